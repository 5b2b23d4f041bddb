import type { Failure } from '../api/change.ts';
import { ErrorNotice, Notice } from './notice.tsx';

/** What became of a change that failed; nothing once the state shows it as made. */
export function ChangeNotice({
  failure,
  undone,
  unknown,
  advice,
}: {
  readonly failure: Failure | null;
  /** Says that nothing has changed. */
  readonly undone: string;
  /** Says that nobody can tell at the moment. */
  readonly unknown: string;
  /** What to do then. */
  readonly advice: string;
}) {
  if (failure === null || failure.standing === 'made') return null;
  if (failure.standing === 'undone') return <ErrorNotice error={failure.error} title={undone} />;
  return (
    <div role="alert">
      <Notice tone="bad">
        <strong>{unknown}</strong>
        <span>{advice}</span>
      </Notice>
    </div>
  );
}
