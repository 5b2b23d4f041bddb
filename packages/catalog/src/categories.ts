/** One health-data category: the `{category}` of `/api/v1/health-data/{category}`. */
export interface CategoryEntry {
  readonly slug: Category;
  readonly title: string;
}

const TABLE = [
  { slug: 'heart', title: 'Heart' },
  { slug: 'blood-pressure', title: 'Blood pressure' },
  { slug: 'oxygen', title: 'Blood oxygen' },
  { slug: 'respiratory', title: 'Breathing' },
  { slug: 'glucose', title: 'Blood glucose' },
  { slug: 'temperature', title: 'Body temperature' },
  { slug: 'activity', title: 'Activity' },
  { slug: 'sleep', title: 'Sleep' },
  { slug: 'body-composition', title: 'Body measurements' },
  { slug: 'mindfulness', title: 'Mindfulness' },
] as const;

/** The slug of a health-data category, used in paths and scopes. */
export type Category = (typeof TABLE)[number]['slug'];

/** The ten categories, in the published order. */
export const CATEGORIES: readonly CategoryEntry[] = TABLE;

/** The ten slugs, in the same order. */
export const CATEGORY_SLUGS: readonly Category[] = TABLE.map((entry) => entry.slug);

const slugs: ReadonlySet<string> = new Set(CATEGORY_SLUGS);

/** Whether a path segment is a category. Paths are case-sensitive. */
export function isCategory(text: string): text is Category {
  return slugs.has(text);
}
