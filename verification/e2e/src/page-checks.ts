import type { ElementHandle, Page } from 'playwright-core';

/** The least height of something to tap, in CSS pixels. Links inside a sentence are exempt (WCAG 2.5.8). */
const TARGET_PX = 44;
/** The least contrast of text (WCAG 1.4.3). */
const CONTRAST = 4.5;
const MAX_STOPS = 300;

const TARGETS = 'a[href], button, input, select, textarea, summary';
const DISABLED =
  'button:disabled, [aria-disabled=true], [data-disabled=true], input:disabled, select:disabled';

// The functions below run in the page.

/** An element of the page, whose type the compiler does not know here. */
type Drawn = ElementHandle extends ElementHandle<infer Held> ? Held : never;

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The visible buttons, links and fields that are lower than `least`, one line each. */
function findLowTargets(root: Drawn, [selector, least]: readonly [string, number]): string[] {
  const view = root.ownerDocument.defaultView;
  // A checkbox or radio button is drawn by its label, which is tapped.
  const toTapped = (element: Drawn) => element.closest('label') ?? element;
  const isInSentence = (element: Drawn) => {
    const isInline = view.getComputedStyle(element).display === 'inline';
    const around = element.parentElement?.textContent?.trim() ?? '';
    return element.tagName === 'A' && isInline && around !== element.textContent?.trim();
  };
  const isDrawn = ({ left, top, right, bottom }: Box) =>
    right > Math.max(0, left) && bottom > Math.max(top, -view.scrollY);
  return Array.from<Drawn>(root.querySelectorAll(selector))
    .filter((element) => element.checkVisibility() && !isInSentence(element))
    .map((element) => ({ element, box: toTapped(element).getBoundingClientRect() }))
    .filter(({ box }) => isDrawn(box) && box.height < least - 0.5)
    .map(({ element, box }) => `${Math.round(box.height)} px: ${element.outerHTML.slice(0, 160)}`);
}

/** Whether the focused element is off the screen or something covers its middle; null when nothing in the page has the focus. */
function judgeFocus(root: Drawn): { isHidden: boolean; html: string } | null {
  const { activeElement, body, defaultView: view } = root.ownerDocument;
  if (activeElement === null || activeElement === body) return null;
  const drawn = activeElement.closest('label') ?? activeElement;
  const { left, right, top, bottom } = drawn.getBoundingClientRect();
  const [x, y] = [(left + right) / 2, (Math.max(0, top) + Math.min(view.innerHeight, bottom)) / 2];
  const found = root.ownerDocument.elementFromPoint(x, y);
  const isHidden = found === null || !(drawn.contains(found) || found.contains(drawn));
  return { isHidden, html: activeElement.outerHTML.slice(0, 160) };
}

/** The texts of disabled controls whose contrast with the ground is lower than `least`. axe skips them. */
function findFaintTexts(root: Drawn, [selector, least]: readonly [string, number]): string[] {
  const view = root.ownerDocument.defaultView;
  const context = root.ownerDocument.createElement('canvas').getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('The browser has no canvas.');
  /** Paints colors over each other and returns the luminance of the result (WCAG 2.2, relative luminance). */
  const luminanceOf = (colors: readonly string[]) => {
    for (const color of colors) {
      context.fillStyle = color;
      context.fillRect(0, 0, 1, 1);
    }
    const [red = 0, green = 0, blue = 0] = Array.from(
      context.getImageData(0, 0, 1, 1).data as Iterable<number>,
      (value) => {
        const share = value / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      },
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ancestorsOf = (element: Drawn | null): Drawn[] =>
    element === null ? [] : [...ancestorsOf(element.parentElement), element];
  const contrastOf = (element: Drawn) => {
    const styles = ancestorsOf(element).map((each) => view.getComputedStyle(each));
    if (styles.some(({ opacity }) => Number(opacity) < 1)) return 0;
    const grounds = ['#fff', ...styles.map(({ backgroundColor }) => backgroundColor)];
    const ground = luminanceOf(grounds);
    const text = luminanceOf([...grounds, view.getComputedStyle(element).color]);
    return (Math.max(ground, text) + 0.05) / (Math.min(ground, text) + 0.05);
  };
  return Array.from<Drawn>(root.querySelectorAll(selector))
    .filter((element) => element.checkVisibility() && element.textContent?.trim() !== '')
    .map((element) => ({ element, contrast: contrastOf(element) }))
    .filter(({ contrast }) => contrast < least)
    .map(({ element, contrast }) => `${contrast.toFixed(1)}: ${element.outerHTML.slice(0, 160)}`);
}

/** The buttons, links and fields of the page that are too low to tap; links inside a sentence are exempt. */
export function findSmallTargets(page: Page): Promise<string[]> {
  return page.locator(':root').evaluate(findLowTargets, [TARGETS, TARGET_PX] as const);
}

/** The texts of disabled controls that are too faint to read. */
export function findFaintDisabledTexts(page: Page): Promise<string[]> {
  return page.locator(':root').evaluate(findFaintTexts, [DISABLED, CONTRAST] as const);
}

/** Tabs once through the page and returns each stop whose focused element cannot be seen (WCAG 2.4.11). */
export async function findHiddenStops(page: Page): Promise<string[]> {
  const root = page.locator(':root');
  const hidden: string[] = [];
  for (let stops = 0; stops < MAX_STOPS; stops += 1) {
    await page.keyboard.press('Tab');
    const stop = await root.evaluate(judgeFocus);
    // Behind the last stop the focus leaves the page.
    if (stop === null) {
      if (stops === 0) throw new Error('The page has nothing to focus.');
      return hidden;
    }
    if (stop.isHidden) hidden.push(stop.html);
  }
  throw new Error(`more than ${MAX_STOPS} stops`);
}

/** Opens everything that is folded. */
export async function unfold(page: Page): Promise<void> {
  await page.locator('details').evaluateAll((folded) => {
    for (const details of folded) details.setAttribute('open', '');
  });
  await page.locator('main button[aria-expanded=false]').evaluateAll((folded) => {
    for (const button of folded) button.click();
  });
}
