import { UnusableFile } from '../ingest/unusable-file.ts';

const MAX_PROLOG = 1024 * 1024;
const MAX_DECLARATION = 4096;

/**
 * Removes the document type declaration before the root element but keeps its line breaks. Apple's declaration is sometimes
 * malformed, and nothing of it is needed: without declared entities, none can be expanded or fetched.
 */
export class Prolog {
  #text: string | null = '';

  /** Returns the text without the document type declaration; empty until its end has been seen. Throws UnusableFile. */
  write(text: string): string {
    if (this.#text === null) return text;
    this.#text += text;
    const passed = withoutDocumentType(this.#text);
    if (passed === null) {
      if (this.#text.length > MAX_PROLOG)
        throw new UnusableFile('The text before the root element is too large');
      return '';
    }
    this.#text = null;
    return passed;
  }

  /** The remaining text if the input ends before a root element. */
  end(): string {
    return this.#text ?? '';
  }
}

/** Null if the text ends before the root element. */
function withoutDocumentType(text: string): string | null {
  let kept = '';
  let at = 0;
  for (;;) {
    const start = skipMisc(text, at);
    if (start === null) return null;
    kept += text.slice(at, start);
    if (!text.startsWith('<!DOCTYPE', start)) return kept + text.slice(start);
    const end = endOfDocumentType(text, start);
    if (end === null) return null;
    kept += text.slice(start, end).replaceAll(/[^\n]+/g, '');
    at = end;
  }
}

/** The end of white space, comments and processing instructions; null if more text is needed to tell. */
function skipMisc(text: string, from: number): number | null {
  let at = from;
  for (;;) {
    while (at < text.length && isSpace(text.charCodeAt(at))) at += 1;
    const closing = closingOf(text, at);
    if (closing === '') return text.length - at < '<!DOCTYPE'.length ? null : at;
    const end = text.indexOf(closing, at);
    if (end === -1) return null;
    at = end + closing.length;
  }
}

function closingOf(text: string, at: number): string {
  if (text.startsWith('<!--', at)) return '-->';
  return text.startsWith('<?', at) ? '?>' : '';
}

/** A declaration ends at `>`, or with an internal subset at the first `]>`; its content is skipped. */
function endOfDocumentType(text: string, start: number): number | null {
  const opening = /[[>]/.exec(text.slice(start, start + MAX_DECLARATION));
  if (opening === null) {
    if (text.length - start >= MAX_DECLARATION)
      throw new UnusableFile('The document type declaration is malformed');
    return null;
  }
  const at = start + opening.index;
  if (opening[0] === '>') return at + 1;
  const end = /\]\s*>/.exec(text.slice(at));
  return end === null ? null : at + end.index + end[0].length;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09 || code === 0xfeff;
}
