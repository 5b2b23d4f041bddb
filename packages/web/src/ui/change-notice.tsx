import type { Failure } from '../api/change.ts';
import { ErrorNotice, Notice } from './notice.tsx';

/** The message about a failed change; renders nothing once the state shows it as made. */
export function ChangeNotice({
  failure,
  undone,
  unknown,
  advice,
}: {
  readonly failure: Failure | null;
  /** Text for: nothing has changed. */
  readonly undone: string;
  /** Text for: it is unknown whether it was made. */
  readonly unknown: string;
  /** What to do in that case. */
  readonly advice: string;
}) {
  if (failure === null || failure.outcome === 'made') return null;
  if (failure.outcome === 'undone') return <ErrorNotice error={failure.error} title={undone} />;
  return (
    <div role="alert">
      <Notice tone="bad">
        <strong>{unknown}</strong>
        <span>{advice}</span>
      </Notice>
    </div>
  );
}
