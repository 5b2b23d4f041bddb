import { text as frame } from '../texts/frame.ts';
import style from './code.module.css';
import { CopyButton } from './copy-button.tsx';

/** Code to read and copy. */
export function Code({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <figure className={style['frame']} aria-label={label}>
      <pre className={style['code']}>
        <code>{text}</code>
      </pre>
      <div>
        <CopyButton value={text}>{frame('copy')}</CopyButton>
      </div>
    </figure>
  );
}
