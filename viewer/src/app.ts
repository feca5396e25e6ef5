/* The page: joins state, stage and panels. */
import type { Header } from "./data/format";
import { poseOf, type Run } from "./data/run";
import { distance } from "./geometry/vector";
import { RUN_COLORS } from "./scene/palette";
import { Stage, VIEWS, type ViewName } from "./scene/stage";
import { Card } from "./ui/card";
import { button, css, fileName, h, icon, lengthText, save } from "./ui/dom";
import { helpDialog, listen, type Shortcut } from "./ui/keys";
import { copyText, parseLink, writeLink } from "./ui/link";
import { modelText } from "./ui/model_text";
import { Plots } from "./ui/plots";
import { RunInfo } from "./ui/run_info";
import { SceneTab } from "./ui/scene_tab";
import { State } from "./ui/state";
import { transport } from "./ui/transport";

const TABS = ["Plots", "Scene", "Model", "Run"] as const;
type Tab = (typeof TABS)[number];

const FOLLOWED = 200; /* bodies in the list of what to follow */

function webgl(): boolean {
  try {
    return !!document.createElement("canvas").getContext("webgl2");
  } catch {
    return false;
  }
}

export class App {
  readonly state: State;
  readonly intervals: number[] = []; /* between pictures while playing, ms */
  private readonly plots: Plots;
  private readonly info: RunInfo;
  private readonly sceneTab: SceneTab;
  private readonly stage: Stage | null;
  private readonly stageBox = h("main", { class: "stage" });
  private readonly tools = h("div", { class: "view-tools" });
  private readonly panel: HTMLElement;
  private readonly tip = h("div", { class: "tip", hidden: true });
  private readonly notice = h("p", { class: "toast", hidden: true, role: "status" });
  private readonly root: HTMLElement;
  private readonly help: HTMLDialogElement;
  private readonly pages: Record<Tab, HTMLElement>;
  private tab: Tab = "Plots";
  private dirty = true;
  private scheduled = false;
  private last = 0;
  private measured = { real: 0, time: 0 };

  constructor(root: HTMLElement, header: Header, runs: Run[]) {
    this.root = root;
    const title = header.title || runs[0]?.scene.name || runs[0]?.label || "galpha";
    this.state = new State(runs, title);
    this.state.dark = this.startsDark();
    this.applyTheme();

    this.stage = this.makeStage();
    this.plots = new Plots(this.state);
    this.info = new RunInfo(this.state);
    this.sceneTab = new SceneTab(this.state, {
      owners: (run) => this.stage?.views[run]?.owners ?? [],
      select: (run, id) => this.select(run, id),
      missing: () => this.stage?.missing(this.state.options) ?? [],
    });
    const models = h(
      "div",
      { class: "tab model-tab", hidden: true },
      ...runs.flatMap((r) => [
        runs.length > 1 ? h("h3", { text: r.label }) : null,
        r.header.model ? modelText(r.header.model) : h("p", { class: "hint", text: "This result does not include the model file." }),
      ]),
    );
    this.pages = { Plots: this.plots.root, Scene: this.sceneTab.root, Model: models, Run: this.info.root };
    const shortcuts = this.shortcuts();
    this.help = helpDialog(shortcuts, header.generator ?? "galpha");
    this.panel = this.makePanel();
    this.fillStage();
    root.replaceChildren(this.makeBar(), this.stageBox, transport(this.state), this.splitter(), this.panel, this.help);
    listen(shortcuts);
    this.wire();
    if (this.isStart()) this.tab = "Scene";
    this.layout();
    window.addEventListener("hashchange", () => this.restore());
    if (!this.stage) this.restore();
  }

  /* A page of a model that has not been run: nothing to plot. */
  private isStart(): boolean {
    return this.state.runs.every((r) => r.frames <= 1);
  }

  /* ---- links */

  /* Time and camera from the address. */
  private restore(): void {
    const link = parseLink(window.location.hash);
    const { state, stage } = this;
    if (link.t !== null) {
      state.setPlaying(false);
      state.setTime(link.t);
    }
    if (!stage) return;
    stage.render(state.time);
    if (link.follow !== null) this.follow(link.follow);
    else if (link.camera !== null && stage.follows) this.follow("");
    if (typeof link.camera === "string") {
      if ((VIEWS as readonly string[]).includes(link.camera)) stage.view(link.camera as ViewName);
    } else if (link.camera) stage.placeCamera(link.camera);
    this.invalidate();
  }

  private async copyLink(): Promise<void> {
    const hash = writeLink(this.state.time, this.stage?.cameraPlace() ?? null, this.followed() || null);
    history.replaceState(null, "", hash);
    const copied = await copyText(window.location.href);
    this.say(copied ? "Link to this time and view copied." : "The link to this time and view is in the address bar.");
  }

  /* What the camera follows: a body, * for the whole model, or nothing. */
  private followed(): string {
    const f = this.stage?.follows;
    if (!f) return "";
    return f === "all" ? "*" : (this.state.runs[f.view]?.scene.bodies?.[f.body]?.name ?? "");
  }

  private follow(name: string): void {
    const body = this.state.runs[0]?.bodyIndex(name) ?? -1;
    if (body >= 0) this.stage?.follow({ view: 0, body });
    else this.stage?.follow(name === "*" ? "all" : null);
    this.state.emit("follow");
  }

  private followSelect(): HTMLSelectElement {
    const bodies = (this.state.runs[0]?.scene.bodies ?? []).slice(0, FOLLOWED);
    const select: HTMLSelectElement = h(
      "select",
      { class: "follow", title: "Camera follows (C: the selected body)", "aria-label": "Camera follows", onchange: () => this.follow(select.value) },
      h("option", { value: "", text: "Fixed camera" }),
      h("option", { value: "*", text: "Follow the model" }),
      ...bodies.map((b) => h("option", { value: b.name, text: `Follow ${b.name}` })),
    );
    const show = (): void => void (select.value = this.followed());
    this.state.on(["follow"], show);
    show();
    return select;
  }

  /* Points that nothing is attached to are named to be looked at: their traces are shown from the start,
   * as is that of a lone body. */
  private defaultTraces(stage: Stage): void {
    const { bodies } = stage.views[0]!.layout;
    const set = this.state.options.tracePoints;
    if (bodies.length === 1 && !stage.large) set.add(bodies[0]!.data.name);
    if (bodies.length > 12) return;
    for (const b of bodies)
      for (const p of b.attachments) {
        const free = p.type === "point" && !b.attachments.some((a) => a !== p && a.type !== "point" && distance(a.point, p.point) < 1e-6 * stage.views[0]!.layout.size);
        if (free && set.size < 6) set.add(`${b.data.name}.${p.owner}`);
      }
  }

  /* ---- pieces */

  private makeStage(): Stage | null {
    if (!webgl()) return null;
    try {
      const canvas = h("canvas", { tabindex: "0", "aria-label": "Animation" });
      const stage = new Stage(canvas, this.state.runs, this.state.options);
      stage.theme(this.state.dark);
      this.defaultTraces(stage);
      stage.onChange = () => this.invalidate();
      canvas.addEventListener("webglcontextlost", (e) => {
        e.preventDefault();
        this.say("The graphics context was lost. Reload the page to restore the animation.");
      });
      return stage;
    } catch (error) {
      console.warn(error);
      return null;
    }
  }

  private fillStage(): void {
    const { stage, stageBox } = this;
    if (!stage) {
      stageBox.append(
        h(
          "div",
          { class: "no-webgl" },
          icon("warn"),
          h("strong", { text: "No 3-D view: WebGL 2 is not available." }),
          h("p", { text: "Enable hardware acceleration or try another browser. Plots, model and statistics work without it." }),
        ),
        this.notice,
      );
      return;
    }
    const views: [ViewName, string][] = [["front", "Front"], ["right", "Right"], ["top", "Top"], ["iso", "3-D"]];
    stageBox.append(
      stage.canvas,
      new Card(this.state, {
        follow: () => this.followSelection(),
        following: () => this.isFollowingSelection(),
        plot: (names) => {
          this.showTab("Plots");
          this.plots.add(names);
        },
        close: () => this.state.select(null),
      }).root,
      this.tools,
      h("div", { class: "scale", text: `grid ${lengthText(stage.gridSpacing)}` }),
      this.legend(),
      this.tip,
      this.notice,
    );
    this.tools.append(
      h("div", { class: "view-names" }, ...views.map(([v, text]) => h("button", { type: "button", class: "text-button", text, title: `${text} view`, onclick: () => stage.view(v) }))),
      button("cube", "Next view", () => stage.view(views[++this.viewed % views.length]![0]), { class: "icon-button next-view" }),
      this.followSelect(),
      button("fit", "Fit the whole motion (F)", () => stage.fit()),
      button("focus", "Fit the current frame (Shift+F)", () => stage.fitNow()),
      button("link", "Copy a link to this time and view (K)", () => void this.copyLink()),
      button("camera", "Save an image (P)", () => this.picture()),
    );
  }

  /* Which colour is which result, when several are compared. */
  private legend(): HTMLElement {
    const box = h("div", { class: "runs", hidden: this.state.runs.length < 2 });
    this.state.runs.forEach((run, i) => {
      const dot = h("span", { class: "dot" });
      dot.style.background = run.isGiven ? "var(--text-3)" : RUN_COLORS[i % RUN_COLORS.length]!;
      const chip = h(
        "button",
        {
          type: "button",
          class: "run on",
          title: `Show or hide ${run.label}`,
          "aria-pressed": "true",
          onclick: () => {
            this.state.visible[i] = !this.state.visible[i];
            chip.classList.toggle("on", this.state.visible[i]);
            chip.setAttribute("aria-pressed", String(this.state.visible[i]));
            if (this.stage) this.stage.views[i]!.visible = this.state.visible[i]!;
            this.state.emit("runs");
            this.invalidate();
          },
        },
        dot,
        h("span", { text: run.label }),
        i > 0 ? h("span", { class: "detail", text: "transparent" }) : null,
      );
      box.append(chip);
    });
    return box;
  }

  private makeBar(): HTMLElement {
    const count = this.state.runs.reduce((n, r) => n + r.notices.length, 0);
    const notices = h("button", { type: "button", class: "text-button notice-count", title: "Notices", hidden: count === 0, onclick: () => this.showTab("Run") }, icon("warn"), h("span", { text: String(count) }));
    const theme = button("moon", "Light or dark theme (D)", () => this.toggleTheme());
    this.state.on(["theme"], () => theme.replaceChildren(icon(this.state.dark ? "sun" : "moon")));
    theme.replaceChildren(icon(this.state.dark ? "sun" : "moon"));
    return h(
      "header",
      { class: "bar" },
      h("span", { class: "logo", text: "gα" }),
      h("h1", { text: this.state.title, title: this.state.title }),
      h("span", { class: "spacer" }),
      notices,
      button("panel", "Show or hide the panel (H)", () => this.togglePanel(), { class: "icon-button panel-toggle" }),
      theme,
      button("help", "Help (?)", () => this.toggleHelp()),
    );
  }

  private makePanel(): HTMLElement {
    const tabs = h(
      "nav",
      { class: "tabs", role: "tablist" },
      ...TABS.map((t) => h("button", { type: "button", role: "tab", "data-tab": t, text: t, onclick: () => this.showTab(t) })),
    );
    return h("aside", { class: "panel" }, tabs, h("div", { class: "pages" }, ...TABS.map((t) => this.pages[t])));
  }

  private splitter(): HTMLElement {
    const bar = h("div", { class: "splitter", "aria-hidden": "true" });
    bar.addEventListener("pointerdown", (e) => {
      bar.setPointerCapture(e.pointerId);
      const move = (m: PointerEvent): void => {
        const w = Math.min(Math.max(window.innerWidth - m.clientX, 300), window.innerWidth - 320);
        this.root.style.setProperty("--panel", `${w}px`);
        this.layout();
      };
      bar.addEventListener("pointermove", move);
      bar.addEventListener("pointerup", () => bar.removeEventListener("pointermove", move), { once: true });
    });
    return bar;
  }

  private showTab(tab: Tab): void {
    this.tab = tab;
    this.root.classList.remove("no-panel");
    for (const t of TABS) this.pages[t].hidden = t !== tab;
    for (const b of this.panel.querySelectorAll<HTMLElement>("[data-tab]")) {
      b.classList.toggle("on", b.dataset.tab === tab);
      b.setAttribute("aria-selected", String(b.dataset.tab === tab));
    }
    if (tab === "Run") this.info.refresh();
    this.layout();
    if (tab === "Plots") for (const p of this.plots.panes) p.tick();
  }

  private togglePanel(): void {
    this.root.classList.toggle("no-panel");
    this.layout();
  }

  private toggleHelp(): void {
    if (this.help.open) this.help.close();
    else this.help.showModal();
  }

  /* ---- theme */

  private startsDark(): boolean {
    const query = window.matchMedia("(prefers-color-scheme: dark)");
    query.addEventListener("change", () => {
      if (!this.root.dataset.chosen) this.setTheme(query.matches);
    });
    return query.matches;
  }
  private applyTheme(): void {
    document.documentElement.dataset.theme = this.state.dark ? "dark" : "light";
    this.state.options.dark = this.state.dark;
  }
  private setTheme(dark: boolean): void {
    this.state.dark = dark;
    this.applyTheme();
    this.stage?.theme(dark);
    this.state.emit("theme");
    this.invalidate();
  }
  private toggleTheme(): void {
    this.root.dataset.chosen = "yes";
    this.setTheme(!this.state.dark);
  }

  /* ---- pointing and choosing */

  private wire(): void {
    const { state, stage } = this;
    state.on(["time", "options", "runs", "select", "follow"], () => this.invalidate());
    state.on(["play"], () => {
      this.last = 0;
      this.measured = { real: 0, time: 0 };
      this.invalidate();
    });
    state.on(["options"], () => {
      const missing = stage?.missing(state.options) ?? [];
      if (missing.length) this.say(missing.join("; "));
    });
    state.on(["select"], () => stage?.mark("uSelected", state.selection?.run ?? -1, state.selection?.id ?? -1));
    new ResizeObserver(() => this.layout()).observe(this.stageBox);
    new ResizeObserver(() => this.layout()).observe(this.panel);
    document.addEventListener("visibilitychange", () => (this.last = 0));
    if (!stage) return;
    const canvas = stage.canvas;
    let down: { x: number; y: number } | null = null;
    let waiting = false;
    canvas.addEventListener("pointerdown", (e) => {
      down = { x: e.clientX, y: e.clientY };
      this.tip.hidden = true;
    });
    canvas.addEventListener("pointermove", (e) => {
      if (e.buttons || waiting || e.pointerType === "touch") return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        this.hover(e.clientX, e.clientY);
      });
    });
    canvas.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
      stage.mark("uHover", -1, -1);
    });
    canvas.addEventListener("click", (e) => {
      if (!down || Math.hypot(e.clientX - down.x, e.clientY - down.y) > 5) return;
      const box = canvas.getBoundingClientRect();
      const hit = stage.pick(e.clientX - box.left, e.clientY - box.top, state.options);
      state.select(hit ? { run: hit.index, owner: hit.owner, id: hit.id } : null);
    });
    canvas.addEventListener("dblclick", () => stage.fit());
  }

  private hover(x: number, y: number): void {
    const stage = this.stage!;
    const box = stage.canvas.getBoundingClientRect();
    const hit = stage.pick(x - box.left, y - box.top, this.state.options);
    stage.mark("uHover", hit ? hit.index : -1, hit ? hit.id : -1);
    this.tip.hidden = !hit;
    stage.canvas.style.cursor = hit ? "pointer" : "";
    if (!hit) return;
    this.tip.replaceChildren(
      h("strong", { text: hit.owner.name }),
      h("span", { text: `${hit.owner.detail} ${hit.owner.kind}${this.state.runs.length > 1 ? ` · ${hit.view.run.label}` : ""}` }),
    );
    const left = Math.min(x - box.left + 14, box.width - this.tip.offsetWidth - 8);
    const top = Math.min(y - box.top + 16, box.height - this.tip.offsetHeight - 8);
    this.tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
  }

  select(run: number, id: number): void {
    const owner = this.stage?.views[run]?.owners[id];
    this.state.select(owner ? { run, owner, id } : null);
  }

  selectByName(name: string, run = 0): boolean {
    const id = this.stage?.views[run]?.owners.findIndex((o) => o.name === name) ?? -1;
    if (id < 0) return false;
    this.select(run, id);
    return true;
  }

  private isFollowingSelection(): boolean {
    const f = this.stage?.follows;
    const s = this.state.selection;
    return !!f && f !== "all" && !!s && s.owner.kind === "body" && f.view === s.run && f.body === s.owner.index;
  }

  private followSelection(): void {
    const s = this.state.selection;
    if (!this.stage) return;
    if (this.isFollowingSelection()) this.stage.follow(null);
    else if (s?.owner.kind === "body") this.stage.follow({ view: s.run, body: s.owner.index });
    else if (this.stage.follows) this.stage.follow(null);
    else this.say("Select a body first.");
    this.state.emit("follow");
  }

  private say(text: string): void {
    this.notice.textContent = text;
    this.notice.hidden = false;
    clearTimeout(this.saying);
    this.saying = window.setTimeout(() => (this.notice.hidden = true), 6000);
  }
  private saying = 0;

  private picture(): void {
    const stage = this.stage;
    if (!stage) return;
    stage.render(this.state.time);
    const source = stage.canvas;
    const canvas = h("canvas", { width: source.width, height: source.height });
    const g = canvas.getContext("2d")!;
    g.fillStyle = css("--stage-1");
    g.fillRect(0, 0, canvas.width, canvas.height);
    g.drawImage(source, 0, 0);
    canvas.toBlob((blob) => blob && save(`${fileName(this.state.title)}.png`, blob), "image/png");
  }

  private shortcuts(): Shortcut[] {
    const { state } = this;
    const view = (v: ViewName) => () => this.stage?.view(v);
    const option = (name: "bodies" | "joints" | "forces" | "grid" | "velocities" | "reactions") => () => state.toggle(name);
    return [
      { keys: [" "], label: "Space", text: "play or pause", run: () => state.setPlaying(!state.playing) },
      { keys: ["ArrowRight"], label: "→ Shift+→", text: "next frame, ten frames ahead", run: (e) => state.step(e.shiftKey ? 10 : 1) },
      { keys: ["ArrowLeft"], label: "← Shift+←", text: "previous frame, ten frames back", run: (e) => state.step(e.shiftKey ? -10 : -1) },
      { keys: ["ArrowUp", "+", "="], label: "↑ ↓", text: "faster, slower", run: () => state.changeSpeed(1) },
      { keys: ["ArrowDown", "-"], label: "", text: "", run: () => state.changeSpeed(-1) },
      { keys: ["Home"], label: "Home End", text: "go to start, end", run: () => state.setTime(state.start) },
      { keys: ["End"], label: "", text: "", run: () => state.setTime(state.end) },
      { keys: ["l"], label: "L", text: "loop", run: () => ((state.loop = !state.loop), state.emit("speed")) },
      { keys: ["f"], label: "F Shift+F", text: "fit the whole motion, the current frame", run: (e) => (e.shiftKey ? this.stage?.fitNow() : this.stage?.fit()) },
      { keys: ["1"], label: "1 2 3 4 5 6 7", text: "front, back, left, right, top, bottom, 3-D", run: view("front") },
      ...(["back", "left", "right", "top", "bottom", "iso"] as const).map((v, i) => ({ keys: [String(i + 2)], label: "", text: "", run: view(v) })),
      { keys: ["[", "]"], label: "[ ]", text: "zoom", run: (e) => this.stage?.zoom(e.key === "]" ? 0.8 : 1.25) },
      { keys: ["c"], label: "C", text: "follow the selected body", run: () => this.followSelection() },
      {
        keys: ["t"],
        label: "T",
        text: "trace the selected body; without a selection, all traces",
        run: () => {
          if (state.selection?.owner.kind === "body") state.toggleTrace(state.selection.owner.name);
          else state.toggle("traces");
        },
      },
      { keys: ["v"], label: "V", text: "velocity arrows", run: option("velocities") },
      { keys: ["r"], label: "R", text: "reaction arrows", run: option("reactions") },
      { keys: ["b"], label: "B J S G", text: "show bodies, joints, springs, grid", run: option("bodies") },
      { keys: ["j"], label: "", text: "", run: option("joints") },
      { keys: ["s"], label: "", text: "", run: option("forces") },
      { keys: ["g"], label: "", text: "", run: option("grid") },
      {
        keys: ["/"],
        label: "/",
        text: "search channels",
        run: () => {
          this.showTab("Plots");
          this.plots.search.focus();
        },
      },
      { keys: ["n"], label: "N", text: "new plot pane", run: () => (this.showTab("Plots"), void this.plots.add([])) },
      { keys: ["k"], label: "K", text: "copy a link to this time and view", run: () => void this.copyLink() },
      { keys: ["p"], label: "P", text: "save an image", run: () => this.picture() },
      { keys: ["d"], label: "D", text: "light or dark theme", run: () => this.toggleTheme() },
      { keys: ["h", "\\"], label: "H", text: "show or hide the panel", run: () => this.togglePanel() },
      { keys: ["?"], label: "?", text: "this help", run: () => this.toggleHelp() },
      { keys: ["Escape"], label: "Esc", text: "clear the selection", run: () => (this.help.open ? this.help.close() : state.select(null)) },
    ];
  }

  /* ---- drawing */

  private layout(): void {
    if (!this.pages) return;
    if (!this.panel.querySelector(".tabs .on")) this.showTab(this.tab);
    const { clientWidth, clientHeight } = this.stageBox;
    if (this.stage && clientWidth && clientHeight) {
      const changed = this.size[0] !== clientWidth || this.size[1] !== clientHeight;
      if (changed) {
        const first = this.size[0] === 0;
        this.size = [clientWidth, clientHeight];
        this.stage.resize(clientWidth, clientHeight, window.devicePixelRatio, this.tools.offsetHeight);
        if (first) {
          this.stage.fit();
          this.restore();
        }
        this.stage.render(this.state.time); /* at once: no blank picture in between */
      }
    }
    this.plots.resize();
    this.info.resize();
  }
  private size: [number, number] = [0, 0];
  private viewed = 0;

  invalidate(): void {
    this.dirty = true;
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(this.frame);
  }

  private readonly frame = (now: number): void => {
    this.scheduled = false;
    if (this.state.playing) {
      const passed = this.last ? (now - this.last) / 1000 : 0;
      if (this.last) {
        this.intervals.push(now - this.last);
        if (this.intervals.length > 600) this.intervals.splice(0, 300);
      }
      this.last = now;
      /* a page that was held up for long must not jump */
      const step = Math.min(passed, 1);
      this.state.advance(step);
      this.measure(passed, step * this.state.speed);
    }
    if (this.dirty) {
      this.dirty = false;
      this.stage?.render(this.state.time);
    }
    if (this.state.playing) this.invalidate();
  };

  private measure(real: number, time: number): void {
    this.measured.real += real;
    this.measured.time += time;
    if (this.measured.real < 0.5) return;
    this.state.achieved = this.measured.time / this.measured.real;
    this.measured = { real: 0, time: 0 };
    this.state.emit("speed");
  }

  /* ---- for tests */

  body(name: string, run = 0): { position: number[]; rotation: number[] } | null {
    const r = this.state.runs[run];
    const i = r?.bodyIndex(name) ?? -1;
    if (!r || i < 0) return null;
    r.pose(this.state.time);
    return poseOf(r.poses, i);
  }

  visible(kind: string): number {
    return this.stage?.count(kind, this.state.options) ?? 0;
  }

  cursorValue(name: string, run = 0): number {
    const r = this.state.runs[run];
    const part = r?.part(name);
    return r && part ? r.value(part, this.state.time) : NaN;
  }

  paneList(): { channels: string[]; values: string[]; curves: number }[] {
    return this.plots.panes.map((p) => ({
      channels: [...p.names],
      values: [...p.root.querySelectorAll(".legend .value")].map((v) => v.textContent ?? ""),
      curves: p.curves().length,
    }));
  }

  frameTimes(): number[] {
    return [...(this.stage?.renderTimes ?? [])];
  }

  project(name: string, run = 0): { x: number; y: number } | null {
    const b = this.body(name, run);
    return b && this.stage ? this.stage.project(b.position) : null;
  }

  /* What is drawn at a point of the world: red, green, blue, alpha. */
  pixel(at: number[]): number[] | null {
    const p = this.stage?.project(at);
    if (!this.stage || !p) return null;
    this.stage.render(this.state.time);
    const canvas = h("canvas", { width: 1, height: 1 });
    const g = canvas.getContext("2d")!;
    const ratio = this.stage.canvas.width / Math.max(1, this.stage.canvas.clientWidth);
    g.drawImage(this.stage.canvas, -Math.round(p.x * ratio), -Math.round(p.y * ratio));
    return [...g.getImageData(0, 0, 1, 1).data];
  }

  /* Part of the picture that bodies and traces cover: where it differs from the picture without them. */
  covered(): number {
    const { stage, state } = this;
    if (!stage) return 0;
    const { width, height } = stage.canvas;
    const g = h("canvas", { width, height }).getContext("2d", { willReadFrequently: true })!;
    const read = (): Uint8ClampedArray => {
      stage.render(state.time);
      g.clearRect(0, 0, width, height);
      g.drawImage(stage.canvas, 0, 0);
      return g.getImageData(0, 0, width, height).data;
    };
    const toggle = (): void => (["bodies", "traces"] as const).forEach((o) => state.toggle(o));
    const shown = read();
    toggle();
    const hidden = read();
    toggle();
    let count = 0;
    for (let i = 0; i < shown.length; i += 4) {
      let differs = 0;
      for (let k = 0; k < 4; ++k) differs += Math.abs(shown[i + k]! - hidden[i + k]!);
      if (differs > 24) ++count;
    }
    return count / (width * height);
  }

  camera(): number[] {
    return this.stage?.cameraPlace() ?? [];
  }

  following(): string {
    return this.followed();
  }

  drawInfo(): { calls: number; triangles: number } | null {
    return this.stage?.info() ?? null;
  }
}
