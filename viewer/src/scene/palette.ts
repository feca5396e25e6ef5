/* Colours that are told apart by most eyes, in light and dark. */
export const BODY_COLORS = [0x4c8dd6, 0xe08a3c, 0x57a86b, 0xc9605f, 0x8b7cc8, 0x3fa7a3, 0xd4a72c, 0xb5719e, 0x7a8fa6, 0x8aa84b];
export const RUN_COLORS = ["#3b82f6", "#f97316", "#a855f7", "#10b981", "#ef4444", "#eab308"];
export const SERIES_COLORS = ["#3b82f6", "#f97316", "#10b981", "#d946ef", "#eab308", "#06b6d4", "#ef4444", "#84cc16", "#8b5cf6", "#64748b"];
export const STEEL = 0x9aa4b1;
export const DARK_STEEL = 0x5a6371;
export const GROUND = 0x808b99;
export const SHEET = 0xaab4c0;
export const DRIVEN = 0x2fb37c;
export const SPRING = 0xd9a13b;
export const DAMPER = 0x64748b;
export const CABLE = 0x8d7b68;
export const FORCE = 0xe0523f;
export const TORQUE = 0x9b5de5;
export const VELOCITY = 0x22a7c4;
export const GAP = 0xe11d2e;
export const REACTION = 0xe0459b;

export const hex = (n: number): string => `#${n.toString(16).padStart(6, "0")}`;
