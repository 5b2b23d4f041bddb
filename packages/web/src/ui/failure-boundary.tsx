import { Component, type ReactNode } from 'react';
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
      <PageHeading title="This page did not load" />
      <Stack>
        <div role="alert">
          <Notice tone="bad">
            <strong>Something is wrong with the page, not with your data.</strong>
            <span>It may have been replaced by a newer one since you came. Load it again to get that.</span>
          </Notice>
        </div>
        <div>
          <Button kind="primary" onPress={() => location.reload()}>
            Load again
          </Button>
        </div>
      </Stack>
    </>
  );
}
