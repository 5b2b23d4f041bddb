import { CATEGORY_SLUGS } from '@phds/catalog/categories';
import { METRICS } from '@phds/catalog/metrics';
import { findSuggestion } from './suggestion.ts';

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
