import type { Failure } from '../api/change.ts';
import { text } from '../texts/frame.ts';
import { ErrorNotice, Notice } from './notice.tsx';

/** The message about a failed change; renders nothing once the state shows it as made. */
export function ChangeNotice({
  failure,
  undone,
  unknown,
  labels,
}: {
  readonly failure: Failure | null;
  /** Text for: nothing has changed. */
  readonly undone: string;
  /** Text for: it is unknown whether it was made. */
  readonly unknown: string;
  /** The labels of the fields that an error can name. */
  readonly labels?: Readonly<Record<string, string>>;
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
