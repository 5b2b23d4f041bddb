import { request } from 'node:https';

/** A node as Patroni sees it. */
export interface Member {
  readonly name: string;
  /** `leader`, `quorum_standby` (may be promoted), `replica`, … */
  readonly role: string;
  /** `running` (of a leader), `streaming`, `stopped`, … */
  readonly state: string;
  readonly timeline?: number;
  /** Bytes of WAL that a standby lacks. */
  readonly lag?: number | 'unknown';
}

const LIMIT_MS = 3_000;

/** The members of the cluster, as the Patroni on this port knows them. Rejects if it does not answer. */
export async function readCluster(port: number, ca: string): Promise<readonly Member[]> {
  return (await get(port, '/cluster', ca)).members;
}

function get(port: number, path: string, ca: string): Promise<{ readonly members: readonly Member[] }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ readonly members: readonly Member[] }>();
  const asked = request({ host: '127.0.0.1', port, path, ca, timeout: LIMIT_MS }, (answer) => {
    let text = '';
    answer.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    answer.on('error', reject).on('end', () => {
      if (answer.statusCode !== 200) reject(new Error(`Patroni answered ${answer.statusCode}`));
      else resolve(JSON.parse(text));
    });
  });
  asked.on('timeout', () => asked.destroy(new Error('Patroni does not answer'))).on('error', reject);
  asked.end();
  return promise;
}
