// Readings that start at the same time are ordered by what an app sees of them, and by their end. Row ids must not order what leaves:
// they are hashes of the user id and of what an app knows, so every pair of such readings would let an app test a guess of the user id.
// Full ties do not occur; the id only keeps the order total.

/** The rest of `ORDER BY start_at DESC`, over columns of `rows`. */
export function tiesOf(rows: string): string {
  return `${rows}.type COLLATE "C", ${rows}.source COLLATE "C", ${rows}.end_at DESC, ${rows}.id`;
}

/**
 * A slice of the readings that meet the condition, newest first. The index gives them by their start; only those up to the end of the slice,
 * with all that start together with the last one, are sorted.
 */
export function toNewest(condition: string, { limit, skip }: { limit: string; skip?: string }): string {
  const upTo = skip === undefined ? limit : `${limit} + ${skip}`;
  return `
    SELECT * FROM (
      SELECT id, type, value, source, start_at, end_at FROM reading WHERE ${condition}
      ORDER BY start_at DESC FETCH FIRST (${upTo}) ROWS WITH TIES
    ) AS newest
    ORDER BY start_at DESC, ${tiesOf('newest')} LIMIT ${limit}${skip === undefined ? '' : ` OFFSET ${skip}`}`;
}
