import { compileMessageOrThrow } from '@lingui/message-utils/compileMessage';

/** The catalogues of texts. */
export const TEXTS = /\/src\/texts\/[a-z]+\/[a-z]+\.json$/;

/** Compiles the ICU messages of a catalogue (JSON), so that pages do not need a parser. Throws for one that cannot be parsed. */
export function compileTexts(catalog: string): string {
  const messages = Object.entries(JSON.parse(catalog) as Record<string, string>);
  return JSON.stringify(Object.fromEntries(messages.map(([id, text]) => [id, compileMessageOrThrow(text)])));
}
