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
        <CopyButton text={text}>Copy</CopyButton>
      </div>
    </figure>
  );
}
