import { isUtf8 } from 'node:buffer';
import { UnusableFile } from '../ingest/unusable-file.ts';

/** Decodes UTF-8 chunks and removes control characters that XML forbids but real exports contain (U+000B). */
export class DocumentText {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #bytes = 0;

  /** Throws UnusableFile if the bytes are not UTF-8. */
  write(chunk: Uint8Array): string {
    const text = this.#decode(withoutControls(chunk));
    this.#bytes += chunk.length;
    return text;
  }

  /** Throws UnusableFile if the last character is incomplete. */
  end(): void {
    this.#decode(new Uint8Array(), false);
  }

  #decode(chunk: Uint8Array, stream = true): string {
    try {
      return this.#decoder.decode(chunk, { stream });
    } catch {
      throw new UnusableFile('The file is not UTF-8 text', this.#bytes + validPrefix(chunk));
    }
  }
}

// Checking bytes costs a third of a regular expression over the text. In UTF-8 these bytes are never part of another character.
function withoutControls(chunk: Uint8Array): Uint8Array {
  for (let index = 0; index < chunk.length; index += 1) {
    if (isControl(chunk[index] ?? 0)) return chunk.filter((byte) => !isControl(byte));
  }
  return chunk;
}

function isControl(byte: number): boolean {
  return byte < 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09;
}

/** Approximate number of leading bytes that are valid UTF-8, for the message. */
function validPrefix(chunk: Uint8Array): number {
  let [low, high] = [0, chunk.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (isUtf8(chunk.subarray(0, middle))) low = middle;
    else high = middle - 1;
  }
  return low;
}
