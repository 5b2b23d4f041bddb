import { useEffect, useRef, useState } from 'react';
import { useExtension } from '../../api/approvals.ts';
import { serviceNow } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import type { PendingApproval } from '../../api/resources.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Clock } from '../../ui/time.tsx';
import style from './approval-form.module.css';
import { Rich, text } from './texts.ts';

const WARNING_MS = 120_000;
const LAST_MS = 30_000;
const TICK_MS = 1_000;
const LOOK_EVERY_MS = 3_000;

const MODIFIERS = ['Shift', 'Control', 'Alt', 'AltGraph', 'Meta', 'CapsLock', 'NumLock'];

/** Warns before the request ends and offers more time. When it has ended, `onOver` reads its state until it is known. */
export function RequestEnd({
  approval: { id, expiresAt },
  onOver,
}: {
  readonly approval: PendingApproval;
  readonly onOver: () => void;
}) {
  const left = useTimeLeft(expiresAt);
  const extension = useExtension(id);
  useRepeated(onOver, left <= 0);
  return (
    // One element for both roles, so that the button keeps the focus.
    <div role={left <= LAST_MS ? 'alert' : 'status'}>
      {extension.isSuccess && left > WARNING_MS ? (
        <Extended expiresAt={expiresAt} onRead={extension.reset} />
      ) : null}
      {left <= WARNING_MS ? <Warning expiresAt={expiresAt} left={left} extension={extension} /> : null}
    </div>
  );
}

function Warning({
  expiresAt,
  left,
  extension,
}: {
  readonly expiresAt: string;
  readonly left: number;
  readonly extension: ReturnType<typeof useExtension>;
}) {
  if (left <= 0) {
    return <Notice tone="bad" title={text('over')} />;
  }
  const { error } = extension;
  return (
    <Notice tone="warn">
      <div className={style['ending']}>
        <strong>
          <Rich id={left <= LAST_MS ? 'endsNow' : 'endsSoon'} values={{ time: <Clock at={expiresAt} /> }} />
        </strong>
        <Button isBusy={extension.isPending} onPress={() => extension.mutate()}>
          {text('moreTime')}
        </Button>
      </div>
      {error === null ? null : (
        <span>{text(error instanceof Problem && error.code === 'CONFLICT' ? 'noMoreTime' : 'unknown')}</span>
      )}
    </Notice>
  );
}

/** Takes over the focus of the button that asked for the time, until the person goes on. */
function Extended({ expiresAt, onRead }: { readonly expiresAt: string; readonly onRead: () => void }) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    element.current?.focus();
    const goOn = (event: Event) => {
      if (event instanceof KeyboardEvent && MODIFIERS.includes(event.key)) return;
      // The focus would be lost with the element.
      if (element.current?.contains(document.activeElement)) return;
      onRead();
    };
    // Not when the focus leaves: the page would move between the two halves of a click.
    document.addEventListener('click', goOn, true);
    document.addEventListener('keyup', goOn, true);
    return () => {
      document.removeEventListener('click', goOn, true);
      document.removeEventListener('keyup', goOn, true);
    };
  }, [onRead]);
  return (
    <div ref={element} tabIndex={-1}>
      <Notice title={<Rich id="extended" values={{ time: <Clock at={expiresAt} /> }} />} />
    </div>
  );
}

/** The milliseconds until an instant, by the service's clock. */
function useTimeLeft(at: string): number {
  const [now, setNow] = useState(serviceNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(serviceNow()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return Date.parse(at) - now;
}

function useRepeated(act: () => void, isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    act();
    const timer = setInterval(act, LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, [act, isOn]);
}
