/* Reads the data out of the page and starts it. Whatever goes wrong is said in words. */
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { App } from "./app";
import { ColumnStore, decodeBase64, inflate } from "./data/decode";
import { parseHeader } from "./data/format";
import { Run } from "./data/run";
import { h } from "./ui/dom";

interface Api {
  ready: boolean;
  error: string | null;
  readonly time: number;
  readonly playing: boolean;
  [name: string]: unknown;
}

const api: Api = { ready: false, error: null, time: 0, playing: false };
(window as unknown as { galpha: Api }).galpha = api;

function fail(root: HTMLElement, message: string): void {
  api.error = message;
  root.replaceChildren(h("div", { class: "failure", role: "alert" }, h("strong", { text: "This page cannot show its data" }), h("p", { text: message })));
}

function expose(app: App): void {
  const { state } = app;
  Object.defineProperties(api, {
    time: { get: () => state.time },
    playing: { get: () => state.playing },
    setTime: { value: (t: number) => state.setTime(t) },
    play: { value: (on: boolean) => state.setPlaying(on) },
    setSpeed: { value: (s: number) => state.setSpeed(s) },
    body: { value: (name: string, run?: number) => app.body(name, run) },
    visible: { value: (kind: string) => app.visible(kind) },
    cursorValue: { value: (part: string, run?: number) => app.cursorValue(part, run) },
    panes: { value: () => app.paneList() },
    frameTimes: { value: () => app.frameTimes() },
    frameIntervals: { value: () => [...app.intervals] },
    select: { value: (name: string, run?: number) => app.selectByName(name, run) },
    project: { value: (name: string, run?: number) => app.project(name, run) },
    drawInfo: { value: () => app.drawInfo() },
    trace: { value: (point: string) => state.toggleTrace(point) },
    option: { value: (name: Parameters<typeof state.toggle>[0]) => state.toggle(name) },
    notices: { value: () => state.runs.map((r) => [...r.notices]) },
    pixel: { value: (at: number[]) => app.pixel(at) },
    covered: { value: () => app.covered() },
    camera: { value: () => app.camera() },
    follow: { value: () => app.following() },
    duration: { value: () => [state.start, state.end] },
  });
  api.ready = true;
}

async function start(): Promise<void> {
  const root = document.getElementById("app")!;
  try {
    const header = document.getElementById("galpha-header")?.textContent;
    const data = document.getElementById("galpha-data");
    if (!header || !data) {
      fail(root, "This page has no data. Create one with `galpha view RESULT.h5 -o page.html`.");
      return;
    }
    const head = parseHeader(header);
    const bytes = await inflate(decodeBase64(data.textContent ?? ""));
    data.remove(); /* its text would stay in memory */
    const store = new ColumnStore(bytes, head.columns);
    const runs = head.runs.map((r) => new Run(r, store));
    if (!runs.length) throw new Error("the page has no results");
    expose(new App(root, head, runs));
  } catch (error) {
    console.error(error);
    fail(root, error instanceof Error ? error.message : String(error));
  }
}

void start();
