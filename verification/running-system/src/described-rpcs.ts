import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadSync } from '@grpc/proto-loader';
import { repositoryRoot } from '@phds/local-stack/data-directory';

const PROTOS = join(repositoryRoot, 'proto');
const FILES = readdirSync(PROTOS, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.proto'),
);

/** The path of every rpc, such as `/phds.consent.v1.ConsentService/ListGrants`, read from the .proto files without generated code. */
export const RPC_PATHS: readonly string[] = Object.values(loadSync(FILES, { includeDirs: [PROTOS] }))
  .filter((definition) => !('format' in definition))
  .flatMap((service) => Object.values(service).map(({ path }) => String(path)));
