import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { handOver, THROWAWAY_SETTINGS } from '@phds/local-stack/servers/embedded-postgres';
import { leasePort } from '@phds/local-stack/servers/leased-ports';
import { findRedisProgram, startRedisProgram } from '@phds/local-stack/servers/redis-server';
import type { Authority, IssuedCertificate } from '@phds/service-kit/keys/authority';
import { describeWith } from './requirements.ts';

const REDIS_PROGRAMS = ['redis-server', 'valkey-server'];

/** `describe` for tests that start Redis with options of their own; skipped when its program is missing. */
export const describeWithRedisProgram = describeWith(
  'redis-server',
  REDIS_PROGRAMS.some((program) => spawnSync(program, ['--version']).status === 0),
);

/** The files of a server's certificate, readable by the user as which Postgres runs. */
export interface TlsFilesOnDisk extends AsyncDisposable {
  /** Also for the data of the server: it must be one that the same user can reach. */
  readonly directory: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** Replaces certificate and key. */
  replace(issued: IssuedCertificate): Promise<void>;
}

/** Writes an authority and a certificate to a directory of its own. */
export async function writeTlsFiles(
  authority: Authority,
  issued: IssuedCertificate,
): Promise<TlsFilesOnDisk> {
  const directory = await mkdtemp(join(tmpdir(), 'phds-tls-'));
  await chmod(directory, 0o755);
  const [ca, cert, key] = ['ca.pem', 'cert.pem', 'cert.key'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  const replace = async (next: IssuedCertificate) => {
    await writeFile(cert, next.cert);
    await writeFile(key, next.key, { mode: 0o600 });
    await handOver(key);
  };
  await writeFile(ca, authority.ca);
  await replace(issued);
  const remove = () => rm(directory, { recursive: true, force: true });
  return { directory, ca, cert, key, replace, [Symbol.asyncDispose]: remove };
}

/** Settings of a disposable Postgres that refuses these roles without TLS; `all` is every role. */
export async function toTlsSettings(files: TlsFilesOnDisk, roles: string): Promise<Record<string, string>> {
  const hba = join(files.directory, 'pg_hba.conf');
  await writeFile(hba, `hostnossl all ${roles} all reject\nhost all all 127.0.0.1/32 scram-sha-256\n`);
  return {
    ...THROWAWAY_SETTINGS,
    ssl: 'on',
    ssl_cert_file: files.cert,
    ssl_key_file: files.key,
    hba_file: hba,
  };
}

/** A Redis that speaks TLS only. */
export interface TlsRedis extends AsyncDisposable {
  readonly port: number;
}

/** Starts a Redis that requires TLS, and certificates of the authority from its clients. */
export async function startTlsRedis({ ca, cert, key }: TlsFilesOnDisk): Promise<TlsRedis> {
  const program = await findRedisProgram();
  if (program === null) throw new Error('no Redis program on this machine: use describeWithRedisProgram');
  const port = await leasePort();
  const own = ['--tls-port', String(port), '--port', '0', '--tls-cert-file', cert, '--tls-key-file', key];
  const trust = ['--tls-ca-cert-file', ca, '--tls-auth-clients', 'yes'];
  const server = await startRedisProgram(program, port, [...own, ...trust], acceptsTls);
  return Object.assign(server, { port });
}

function acceptsTls(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => resolve(true));
  socket.once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}
