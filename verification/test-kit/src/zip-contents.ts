import { buffer } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';

/** The texts of the files of an archive by their names, with byte order marks. Rejects for bytes without a valid central directory. */
export async function readZip(bytes: Uint8Array): Promise<Map<string, string>> {
  const zip = await fromBufferPromise(Buffer.from(bytes));
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const files = new Map<string, string>();
  for await (const entry of zip.eachEntry()) {
    files.set(entry.fileName, decoder.decode(await buffer(await zip.openReadStreamPromise(entry))));
  }
  return files;
}
