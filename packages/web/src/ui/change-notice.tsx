import type { Failure } from '../api/change.ts';
import type { Labels } from '../api/problem.ts';
import { text } from '../texts/frame.ts';
import { ErrorNotice, Notice } from './notice.tsx';

/** The message about a failed change: it was not made, or that is unknown. Renders nothing once the state shows it as made. */
export function ChangeNotice({
  failure,
  undone,
  unknown,
  labels,
}: {
  readonly failure: Failure | null;
  readonly undone: string;
  readonly unknown: string;
  readonly labels?: Labels;
}) {
  if (failure === null || failure.outcome === 'made') return null;
  if (failure.outcome === 'undone') {
    return <ErrorNotice error={failure.error} title={undone} labels={labels} />;
  }
  return (
    <Notice role="alert" tone="bad" title={unknown}>
      {text('unknownAdvice')}
    </Notice>
  );
}
