import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import style from './dialog.module.css';

/**
 * An open dialog; `onClose` takes it away. The browser keeps what is behind it from being used, and gives the focus back. An `alertdialog`
 * demands an answer.
 */
export function Dialog({
  title,
  onClose,
  close = null,
  buttons = null,
  role = 'dialog',
  isDismissable = true,
  isSheet = false,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  /** A button beside the title, for a content that may be taller than the screen. */
  readonly close?: ReactNode;
  readonly buttons?: ReactNode;
  readonly role?: 'dialog' | 'alertdialog';
  /** Whether a press beside the dialog closes it, in browsers that can. */
  readonly isDismissable?: boolean;
  /** Whether it is wide, and on a phone at the bottom of the screen. */
  readonly isSheet?: boolean;
  readonly children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      role={role}
      aria-labelledby={heading}
      className={isSheet ? `${style['dialog']} ${style['sheet']}` : style['dialog']}
      closedby={isDismissable ? 'any' : 'closerequest'}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div className={style['body']}>
        <div className={style['title']}>
          <h2 id={heading}>{title}</h2>
          {close}
        </div>
        {children}
        {buttons === null ? null : <div className={style['buttons']}>{buttons}</div>}
      </div>
    </dialog>
  );
}
