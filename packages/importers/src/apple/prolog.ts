import { UnusableFile } from '../ingest/unusable-file.ts';

const MAX_PROLOG = 1024 * 1024;
const MAX_DECLARATION = 4096;

/**
 * Takes the document type declaration out of the text in front of the root element and leaves its line breaks. Apple's is
 * malformed at times, and nothing of one is ever wanted: no entity is declared, so none can be expanded or fetched.
 */
export class Prolog {
  #text: string | null = '';

  /** The text without a document type declaration; empty while its end has not been seen. Throws UnusableFile. */
  write(text: string): string {
    if (this.#text === null) return text;
    this.#text += text;
    const passed = withoutDocumentType(this.#text);
    if (passed === null) {
      if (this.#text.length > MAX_PROLOG)
        throw new UnusableFile('What stands before the root element is too large');
      return '';
    }
    this.#text = null;
    return passed;
  }

  /** What is left when the text ends before a root element. */
  end(): string {
    return this.#text ?? '';
  }
}

/** Null while the text ends before the root element begins. */
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

/** Where white space, comments and processing instructions end; null when that cannot be told yet. */
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

/** A declaration ends at `>`, with an internal subset at the first `]>`: what stands inside is not looked at. */
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
