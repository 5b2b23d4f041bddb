import { createHash } from 'node:crypto';
import type { CheckpointAnchor } from '@phds/record-chain/anchor';
import { AwsClient } from 'aws4fetch';
import type { AnchorStore } from '../app/access-ports.ts';

const DAY_MS = 86_400_000;

/** For connection, request and answer together. */
const WRITE_MS = 10_000;

export interface BucketOptions {
  /** URL of the bucket, with a prefix of the names if it has a path. */
  readonly url: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** How long nobody can delete an object, not even the owner of the bucket. */
  readonly lockDays: number;
}

/**
 * A bucket of S3, or of a server that is compatible, with object lock: each anchor is an object that nobody can change or delete before
 * its time. The name contains the head, so two checkpoints of the same number are two objects.
 */
export function createS3Anchors({ url, lockDays, ...account }: BucketOptions): AnchorStore {
  // A failed write is repeated with the next checkpoint.
  const client = new AwsClient({ ...account, service: 's3', retries: 0 });
  const prefix = url.endsWith('/') ? url : `${url}/`;
  return {
    async write(anchor) {
      const body = `${JSON.stringify(anchor)}\n`;
      const answer = await client.fetch(`${prefix}${nameOf(anchor)}`, {
        method: 'PUT',
        body,
        headers: { 'content-type': 'application/json', ...checksums(body), ...lock(anchor, lockDays) },
        redirect: 'error',
        signal: AbortSignal.timeout(WRITE_MS),
      });
      await answer.body?.cancel();
      if (!answer.ok) throw new Error(`the bucket of anchors answered ${answer.status}`);
    },
  };
}

function nameOf({ number, head }: CheckpointAnchor): string {
  return `checkpoint-${String(number).padStart(10, '0')}-${head}.json`;
}

/** S3 refuses a locked object without a checksum. */
function checksums(body: string) {
  const digest = createHash('sha256').update(body).digest();
  return {
    'x-amz-content-sha256': digest.toString('hex'),
    'x-amz-checksum-sha256': digest.toString('base64'),
  };
}

function lock({ signedAt }: CheckpointAnchor, days: number) {
  return {
    'x-amz-object-lock-mode': 'COMPLIANCE',
    'x-amz-object-lock-retain-until-date': new Date(Date.parse(signedAt) + days * DAY_MS).toISOString(),
  };
}
