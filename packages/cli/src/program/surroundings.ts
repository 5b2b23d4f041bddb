import { openIngestion } from '../connection.ts';
import { openOperator } from '../operator/connection.ts';
import { announceRecordsRead, openRecords } from '../records/connection.ts';

const streams = { output: process.stdout, errors: process.stderr };
export const withIngestion = { ...streams, connect: () => openIngestion(process.env) };
export const withRecords = { ...streams, connect: () => openRecords(process.env) };
/** The records, after consent has recorded that the operator reads them. */
export const withRecordsOf = (subject: { readonly userId: string; readonly clientId: string }) => ({
  ...streams,
  async connect() {
    await announceRecordsRead(process.env, subject);
    return openRecords(process.env);
  },
});
export const withServices = (services: Parameters<typeof openOperator>[1], reason = '') => ({
  ...streams,
  connect: () => openOperator(process.env, services, reason),
});
