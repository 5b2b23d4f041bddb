/** A block of code of a page. */
export interface Sample {
  readonly language: 'sh' | 'ts';
  readonly code: string;
  /** Why it is not run; null for samples that are. */
  readonly notRun: string | null;
  /** The name under which the reader saves it for later samples; null for one that is run itself. */
  readonly file: string | null;
  /** The line of the page on which it begins, counted from 1. */
  readonly line: number;
}

const FENCE = /^```(sh|ts)\n(.*?)\n```$/gms;
const REASON = /<!-- not run: (.+?) -->\n$/;
const FILE = /<!-- file: ([\w.-]+) -->\n$/;

/** The samples of a page in their order. */
export function listSamples(markdown: string): Sample[] {
  return [...markdown.matchAll(FENCE)].map((match) => {
    const [, language, code = ''] = match;
    const before = markdown.slice(0, match.index);
    return {
      language: language as Sample['language'],
      code,
      notRun: REASON.exec(before)?.[1] ?? null,
      file: FILE.exec(before)?.[1] ?? null,
      line: before.split('\n').length,
    };
  });
}
