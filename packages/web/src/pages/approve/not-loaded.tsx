import { Notice } from '../../ui/notice.tsx';
import { text } from './texts.ts';

/** Instead of a preview whose code could not be loaded. The choices on the page stay. */
export function NotLoaded() {
  return (
    <Notice tone="bad">
      <strong>{text('previewFailed')}</strong>
    </Notice>
  );
}
