/** Why one item of a batch is not stored; the rest of the batch is processed. The message contains no value of the item. */
export class RefusedItem extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'RefusedItem';
  }
}

const DAY_MS = 86_400_000;
const EARLIEST = Date.UTC(1900, 0, 1);

// Normalised labels only: lower case without spaces excludes names like "Simon's iPhone".
const SOURCE = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const SOURCE_MAX_LENGTH = 40;

/** Throws RefusedItem for an instant more than 24 hours after `now`, or before 1900. */
export function checkMoment(field: string, at: Date, now: Date): void {
  checkNotBefore1900(field, at);
  if (at.getTime() > now.getTime() + DAY_MS) {
    throw new RefusedItem(`${field} is more than 24 hours in the future`);
  }
}

/** Throws RefusedItem for an instant too early for a health record of a living person. */
export function checkNotBefore1900(field: string, at: Date): void {
  if (!(at.getTime() >= EARLIEST)) throw new RefusedItem(`${field} is before 1900`);
}

/** Throws RefusedItem unless the label is normalised, such as `apple-watch`. */
export function checkSource(source: string): void {
  if (!SOURCE.test(source) || source.length > SOURCE_MAX_LENGTH) {
    throw new RefusedItem('source must be a label such as apple-watch, at most 40 characters');
  }
}
