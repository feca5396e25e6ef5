/* Groups of bodies that are drawn together: room for beams, chains of nodes with a section. A kind of
 * group is one entry of the table; what a file has and the table has not is named in a notice. */
import type { BuildContext, Drawable } from "../drawable";

const KINDS: Record<string, (context: BuildContext, group: unknown) => void> = {};

export const groups: Drawable = {
  kind: "groups",
  build(context) {
    const unknown = new Map<string, number>();
    for (const group of context.run.scene.groups ?? []) {
      const kind = String(group.type ?? group.kind ?? "unnamed");
      const draw = KINDS[kind];
      if (draw) draw(context, group);
      else unknown.set(kind, (unknown.get(kind) ?? 0) + 1);
    }
    for (const [kind, n] of unknown) context.notice(`${n} group${n > 1 ? "s" : ""} of kind ${kind} cannot be drawn`);
    return null;
  },
};
