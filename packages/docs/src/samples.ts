/** A block of code of a page. */
export interface Sample {
  readonly language: 'sh' | 'ts';
  readonly code: string;
  /** Why it is not run; null for samples that are. */
  readonly notRun: string | null;
  /** The line of the page on which it begins, counted from 1. */
  readonly line: number;
}

const FENCE = /^```(sh|ts)\n(.*?)\n```$/gms;
const REASON = /<!-- not run: (.+?) -->\n$/;

/** The samples of a page in their order. */
export function listSamples(markdown: string): Sample[] {
  return [...markdown.matchAll(FENCE)].map((match) => {
    const [, language, code = ''] = match;
    const before = markdown.slice(0, match.index);
    return {
      language: language as Sample['language'],
      code,
      notRun: REASON.exec(before)?.[1] ?? null,
      line: before.split('\n').length,
    };
  });
}
