import { type ReactNode, useState } from 'react';
import { Confirmation } from '../../ui/confirmation.tsx';
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

/** The button that replaces a secret, and the dialog that asks for how long the old one keeps working. */
export function RotationConfirmation({
  text: textOf,
  isBusy,
  isBlocked,
  onRotate,
  children,
}: {
  /** Texts of the page about its secret; the effects are those when the old one stops at once, or later. */
  readonly text: (
    id: 'rotate' | 'rotateTitle' | 'rotateConfirm' | 'rotateEffect' | 'rotateEffectLater',
  ) => string;
  readonly isBusy: boolean;
  readonly isBlocked: boolean;
  readonly onRotate: (overlapSeconds: number) => void;
  /** What else follows. */
  readonly children?: ReactNode;
}) {
  const [seconds, setSeconds] = useState(0);
  return (
    <Confirmation
      trigger={textOf('rotate')}
      triggerKind="plain"
      title={textOf('rotateTitle')}
      confirm={textOf('rotateConfirm')}
      isBusy={isBusy}
      isBlocked={isBlocked}
      onConfirm={() => onRotate(seconds)}
    >
      <Select
        label={text('overlap')}
        value={String(seconds)}
        onChange={(value) => setSeconds(Number(value))}
        options={OVERLAPS.map((overlap) => ({ id: String(overlap.seconds), text: text(overlap.id) }))}
      />
      <p>{textOf(seconds === 0 ? 'rotateEffect' : 'rotateEffectLater')}</p>
      {children}
    </Confirmation>
  );
}
