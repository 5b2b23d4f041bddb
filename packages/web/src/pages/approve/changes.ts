import type { Connection } from '../../api/resources.ts';
import { formatDay } from '../../ui/time.tsx';
import { KEPT, type Terms } from './terms.ts';

/** Which terms of a connection an approval would change. Another time of the same day is not shown, so it does not count. */
export function findChanges(
  connection: Connection,
  { added, stopped, life, end, firstDay, dayFault }: Terms,
) {
  const ends = { from: formatDay(connection.expiresAt), to: formatDay(end) };
  const isEndNew = life !== KEPT && ends.from !== ends.to;
  const isFirstDayNew = dayFault === null && firstDay !== connection.dataFrom;
  const isSame = added.length + stopped.length === 0 && !isEndNew && !isFirstDayNew;
  return { ends, isEndNew, isFirstDayNew, isSame };
}
