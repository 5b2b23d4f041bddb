/**
 * Returns the check of a database with reports of both ends of an outage. Failed checks in between are not reported: inserts may succeed
 * meanwhile, for example while the pool is full.
 */
export function reportingOutages(
  check: () => Promise<void>,
  report: (() => void) | undefined,
): () => Promise<void> {
  let isOutage = false;
  const note = (isNow: boolean) => {
    if (isNow !== isOutage) report?.();
    isOutage = isNow;
  };
  return async () => {
    try {
      await check();
    } catch (error) {
      note(true);
      throw error;
    }
    note(false);
  };
}
