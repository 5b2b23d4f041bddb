import { CATEGORY_SLUGS } from '@phds/catalog/categories';
import { METRICS } from '@phds/catalog/metrics';

const FARTHEST = 3;

/** How far a text is at most from the candidate that was meant: `size` is not a mistyped `type`. */
const farthestFrom = (candidate: string) => Math.min(FARTHEST, Math.floor(candidate.length / 3));

/** The most similar candidate; null when none is similar enough. */
export function findSuggestion(text: string, candidates: readonly string[]): string | null {
  const wanted = text.slice(0, 64).toLowerCase();
  const near = candidates
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= farthestFrom(candidate))
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.candidate ?? null;
}

/** The Damerau-Levenshtein distance: insertions, deletions, replacements and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, at(beforeLast, j - 2) + 1);
      }
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}

const NAMED_LENGTH = 64;

/** Which category each name means: its own slug, the types of its readings, and their words, as far as one category has them. */
const MEANINGS = toMeanings();

function toMeanings(): ReadonlyMap<string, string> {
  const meanings = new Map<string, string>(CATEGORY_SLUGS.map((slug) => [slug, slug]));
  for (const { name, category } of METRICS) {
    const slug = toSlug(name);
    if (!meanings.has(slug)) meanings.set(slug, category);
  }
  return meanings;
}

function toSlug(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}

/** Tells that there is no such category, and which one was probably meant. `text` is a path segment of the caller. */
export function describeUnknownCategory(text: string): string {
  const named = text.slice(0, NAMED_LENGTH);
  const wanted = toSlug(named);
  const near = MEANINGS.has(wanted) ? wanted : findSuggestion(wanted, [...MEANINGS.keys()]);
  const meant = near === null ? findByWord(wanted) : MEANINGS.get(near);
  const hint =
    meant === undefined ? `the categories are ${CATEGORY_SLUGS.join(', ')}` : `did you mean "${meant}"?`;
  return `No category "${named}"; ${hint}`;
}

/** The category of which a word is in the text, such as `heart` in `heart-data`. */
function findByWord(text: string): string | undefined {
  const words = text.split('-');
  return CATEGORY_SLUGS.find((slug) => slug.split('-').some((word) => words.includes(word)));
}
