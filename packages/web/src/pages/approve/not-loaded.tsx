import { Notice } from '../../ui/notice.tsx';
import { text } from './texts.ts';

/** Instead of a preview whose code could not be loaded. */
export function NotLoaded() {
  return (
    <Notice tone="bad">
      <strong>{text('previewFailed')}</strong>
    </Notice>
  );
}
