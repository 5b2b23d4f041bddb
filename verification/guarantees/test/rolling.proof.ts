import { expect, test } from '@jest/globals';
import { describeWith } from '@phds/test-kit/requirements';
import { findViolations, restartRolling } from '../src/rolling/rolling-restart.ts';

const LIMIT_MS = 300_000;

// The second replicas listen on 127.0.0.2, which only Linux has without configuration.
describeWith('Linux', process.platform === 'linux')('an update', () => {
  test(
    'of all databases by the migrations of a next release, and of every replica, under traffic, fails no request, and no read after a revocation gets data',
    async () => {
      const report = await restartRolling({
        shutdownDelayMs: 1_500,
        allServicesAtOnce: true,
      });
      expect(findViolations(report)).toEqual([]);
      expect(report.restarts).toBe(8);
      expect(report.reads.answered).toBeGreaterThan(100);
      expect(report.revocations.readsAfter).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );
});
