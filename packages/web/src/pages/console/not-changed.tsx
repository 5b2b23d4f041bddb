import type { Failure } from '../../api/change.ts';
import { ChangeNotice } from '../../ui/change-notice.tsx';
import { text } from './texts.ts';

/** Why a change that can be repeated was not made, or that this is not known. */
export function NotChanged({
  failure,
  labels,
}: {
  readonly failure: Failure | null;
  readonly labels?: Readonly<Record<string, string>>;
}) {
  return (
    <ChangeNotice
      failure={failure}
      undone={text('notChanged')}
      unknown={text('changeUnknown')}
      advice={text('changeAdvice')}
      {...(labels && { labels })}
    />
  );
}
