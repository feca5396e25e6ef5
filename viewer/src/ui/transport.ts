/* Play, step, scrub, speed, loop; the time, and how it compares with the real one. */
import { button, format, h, icon } from "./dom";
import { SPEEDS, type State } from "./state";

/* Decimals that show a thousandth of the whole, however close its frames are. */
export function timeDigits(duration: number): number {
  return duration > 0 ? Math.min(9, Math.max(0, Math.ceil(3 - Math.log10(duration) - 1e-9))) : 2;
}

export function speedText(s: number): string {
  return s >= 1 ? `${format(s)}×` : `1/${format(Math.round(1 / s))}×`;
}

export function transport(state: State): HTMLElement {
  const digits = timeDigits(state.end - state.start);
  const steps = 100000;
  const span = state.end - state.start;
  const play = button("play", "Play or pause (space)", () => state.setPlaying(!state.playing), { class: "icon-button play" });
  const scrub = h("input", {
    type: "range",
    class: "scrub",
    min: "0",
    max: String(steps),
    step: "1",
    value: "0",
    "aria-label": "Time",
    oninput: () => {
      state.setPlaying(false);
      state.setTime(state.start + (span * Number(scrub.value)) / steps);
    },
  });
  const now = h("output", { class: "now" });
  const total = h("span", { class: "total", text: ` / ${state.end.toFixed(digits)} s` });
  const speed = h(
    "select",
    { class: "speed", title: "Speed", "aria-label": "Speed", onchange: () => state.setSpeed(Number(speed.value)) },
    ...SPEEDS.map((s) => h("option", { value: String(s), text: speedText(s) })),
  );
  const truth = h("span", { class: "truth", title: "Playback speed: simulated time per real time" });
  const loop = button("loop", "Loop (L)", () => {
    state.loop = !state.loop;
    state.emit("speed");
  }, { class: "icon-button loop" });
  const disabled = !(span > 0);
  for (const e of [play, scrub]) e.disabled = disabled;

  const showTime = (): void => {
    const part = span > 0 ? (state.time - state.start) / span : 0;
    if (document.activeElement !== scrub || state.playing) scrub.value = String(Math.round(part * steps));
    scrub.style.setProperty("--part", String(part));
    now.textContent = state.time.toFixed(digits);
  };
  const showPlay = (): void => {
    play.replaceChildren(icon(state.playing ? "pause" : "play"));
    play.classList.toggle("on", state.playing);
  };
  const showSpeed = (): void => {
    speed.value = String(state.speed);
    loop.classList.toggle("on", state.loop);
    loop.setAttribute("aria-pressed", String(state.loop));
    const slow = state.speed < 1 ? "slow motion" : state.speed > 1 ? "time lapse" : "real time";
    const lag = state.playing && state.achieved < 0.9 * state.speed;
    truth.textContent = state.playing && state.achieved === state.achieved ? `${slow}, ${format(state.achieved, 3)}×` : slow;
    truth.classList.toggle("lag", lag);
  };
  state.on(["time"], showTime);
  state.on(["play"], () => {
    showPlay();
    showSpeed();
  });
  state.on(["speed"], showSpeed);
  showTime();
  showPlay();
  showSpeed();
  return h(
    "section",
    { class: "transport", "aria-label": "Playback" },
    h(
      "div",
      { class: "buttons" },
      button("first", "Go to start (Home)", () => state.setTime(state.start)),
      button("back", "Previous frame (←)", () => state.step(-1)),
      play,
      button("next", "Next frame (→)", () => state.step(1)),
      loop,
    ),
    scrub,
    h("div", { class: "clock" }, now, total),
    h("div", { class: "speed-box" }, speed, truth),
  );
}
