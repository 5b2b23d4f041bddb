import type { Locator, Page } from 'playwright-core';

const MAX_STOPS = 120;

/** Somebody who uses a page with keys alone, and has to see where they are. */
export class Keyboard {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  /** Presses Tab (or Shift+Tab) until this has the focus. Throws when a stop on the way shows no focus, or when it is never reached. */
  async tabTo(target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    const wanted = await target.elementHandle();
    for (let stops = 0; stops < MAX_STOPS; stops += 1) {
      await this.press(key);
      const [stop] = await this.#page.locator(':focus').evaluateAll(
        (elements, sought) =>
          elements.map((element) => {
            // A box is drawn by its label, which shows the focus too.
            const isSeen = [element, element.closest('label') ?? element].some((drawn) => {
              const { outlineStyle, outlineWidth } = drawn.ownerDocument.defaultView.getComputedStyle(drawn);
              const { width, height } = drawn.getBoundingClientRect();
              return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2 && width * height > 10;
            });
            return { isWanted: element === sought, isSeen, html: element.outerHTML };
          }),
        wanted,
      );
      if (stop?.isSeen === false) throw new Error(`the focus cannot be seen on ${stop.html}`);
      if (stop?.isWanted === true) return;
    }
    throw new Error(`not reached with ${key}: ${target}`);
  }

  /** Goes to a button or link, waits until it is no longer shown as disabled, as while a change is under way, and presses Enter. */
  async activate(target: Locator, key?: 'Tab' | 'Shift+Tab'): Promise<void> {
    await this.tabTo(target, key);
    await target.and(this.#page.locator(':not([aria-disabled="true"])')).waitFor();
    await this.press('Enter');
  }

  /** Goes to a field and types; a chooser takes the beginning of an entry. */
  async fill(target: Locator, text: string, key?: 'Tab' | 'Shift+Tab'): Promise<void> {
    await this.tabTo(target, key);
    await this.#page.keyboard.type(text);
  }

  press(key: string): Promise<void> {
    return this.#page.keyboard.press(key);
  }

  /** Whether the focus is on this or within it. */
  holds(target: Locator): Promise<boolean> {
    return target.evaluate((element) => element.contains(element.ownerDocument.activeElement));
  }
}
