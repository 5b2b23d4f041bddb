import { Component, type ReactNode } from 'react';
import { text } from '../texts/frame.ts';
import { Button } from './button.tsx';
import { Stack } from './card.tsx';
import { PageHeading } from './layout.tsx';
import { Notice } from './notice.tsx';

/** Shown when a page throws, or when its script no longer exists on the server; offers to reload. */
export class FailureBoundary extends Component<{ readonly children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    return this.state.hasFailed ? <Failed /> : this.props.children;
  }
}

function Failed() {
  return (
    <>
      <PageHeading title={text('pageFailed')} />
      <Stack>
        <div role="alert">
          <Notice tone="bad">
            <strong>{text('pageFailedTitle')}</strong>
            <span>{text('pageFailedAdvice')}</span>
          </Notice>
        </div>
        <div>
          <Button kind="primary" onPress={() => location.reload()}>
            {text('reload')}
          </Button>
        </div>
      </Stack>
    </>
  );
}
