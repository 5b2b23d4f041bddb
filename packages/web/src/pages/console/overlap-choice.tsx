import { Select } from '../../ui/field.tsx';
import { text } from './texts.ts';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

/** For how long a replaced secret keeps working. The service allows seven days at most. */
const OVERLAPS = [
  { seconds: 0, id: 'overlapNone' },
  { seconds: HOUR_S, id: 'overlapHour' },
  { seconds: DAY_S, id: 'overlapDay' },
  { seconds: 3 * DAY_S, id: 'overlapDays' },
  { seconds: 7 * DAY_S, id: 'overlapWeek' },
] as const;

/** Chooses for how long a secret keeps working after a new one has replaced it. */
export function OverlapChoice({
  seconds,
  onChange,
}: {
  readonly seconds: number;
  readonly onChange: (seconds: number) => void;
}) {
  return (
    <Select
      label={text('overlap')}
      value={String(seconds)}
      onChange={(value) => onChange(Number(value))}
      options={OVERLAPS.map((overlap) => ({ id: String(overlap.seconds), text: text(overlap.id) }))}
    />
  );
}
