import { readFile } from 'node:fs/promises';
import { ConnectorFailure } from '../connector';

/** A key of the operator: its text, or a file that is read for each call, so that it can be rotated while the service runs. */
export type OperatorKey = { readonly text: string } | { readonly file: string };

/** Characters of a key that a header can carry. */
const KEY = /^[\x21-\x7e]{1,16384}$/;

/** The key. Rejects with a {@link ConnectorFailure} that names the setting, but neither the file nor its content. */
export const readOperatorKey = async (key: OperatorKey, setting: string): Promise<string> => {
  const name = 'file' in key ? `${setting}_FILE` : setting;
  const text = 'text' in key ? key.text : await readFile(key.file, 'utf8').catch(() => undefined);
  if (text === undefined)
    throw new ConnectorFailure(`The file that ${name} names cannot be read; ask the operator to check it.`, {
      mayRetry: true,
      blamesTarget: false,
    });
  if (KEY.test(text.trim())) return text.trim();
  throw new ConnectorFailure(`${name} holds no key that a header can carry; ask the operator to check it.`);
};
