/* Links to a moment: page.html#t=0.25&camera=2,-3,1.5,0,0,0&follow=top
 *
 *     t        time, s
 *     camera   where it is and what it looks at, six numbers in the world; or the name of a view, top
 *     follow   the body the camera follows, or * for the whole model */

export interface Link {
  t: number | null;
  camera: number[] | string | null;
  follow: string | null;
}

export function parseLink(hash: string): Link {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const number = (text: string | null): number => (text === null || text.trim() === "" ? NaN : Number(text));
  const t = number(words.get("t"));
  const camera = words.get("camera");
  const places = camera?.split(",").map(number) ?? [];
  return {
    t: Number.isFinite(t) ? t : null,
    camera: places.length === 6 && places.every(Number.isFinite) ? places : /^[a-z]+$/.test(camera ?? "") ? camera : null,
    follow: words.get("follow") || null,
  };
}

/* Seven digits are finer than a pixel. */
const short = (x: number): string => String(Number(x.toPrecision(7)));

export function writeLink(t: number, camera: number[] | null, follow: string | null): string {
  const words = [`t=${short(t)}`];
  if (camera) {
    /* digits that only round-off would tell from zero are noise */
    const size = Math.max(...camera.map(Math.abs));
    words.push(`camera=${camera.map((x) => short(Math.abs(x) < 1e-7 * size ? 0 : x)).join(",")}`);
  }
  if (follow) words.push(`follow=${encodeURIComponent(follow)}`);
  return `#${words.join("&")}`;
}

/* True if it is on the clipboard. Pages from files have no clipboard in some browsers. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.style.position = "fixed";
    area.style.opacity = "0";
    document.body.append(area);
    area.select();
    let done = false;
    try {
      done = document.execCommand("copy");
    } catch {
      done = false;
    }
    area.remove();
    return done;
  }
}
