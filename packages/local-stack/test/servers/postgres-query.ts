import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Just enough of a client to log in with the stack's own password and read text. */
export const query = async (url: string, sql: string): Promise<string[][]> => {
  const { hostname, port, username, password, pathname } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.setTimeout(10_000, () => socket.destroy(new Error('PostgreSQL did not answer within 10 s.')));
  try {
    await once(socket, 'connect');
    const next = messages(socket);
    await logIn(socket, next, { user: username, password, database: pathname.slice(1) });
    send(socket, 'Q', Buffer.from(`${sql}\0`));
    return await rows(next);
  } finally {
    socket.destroy();
  }
};

interface Message {
  readonly type: string;
  readonly body: Buffer;
}

type NextMessage = () => Promise<Message>;

const messages = (socket: Socket): NextMessage => {
  const chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let pending = Buffer.alloc(0);
  return async () => {
    while (pending.length < 5 || pending.length < 1 + pending.readInt32BE(1)) {
      const chunk = await chunks.next();
      if (chunk.done === true) throw new Error('PostgreSQL closed the connection.');
      pending = Buffer.concat([pending, chunk.value]);
    }
    const end = 1 + pending.readInt32BE(1);
    const message = { type: String.fromCharCode(pending[0] ?? 0), body: pending.subarray(5, end) };
    pending = pending.subarray(end);
    if (message.type === 'E') throw new Error(message.body.toString().replaceAll('\0', ' '));
    return message;
  };
};

const send = (socket: Socket, type: string, body: Buffer): void => {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  socket.write(Buffer.concat([head, body]));
};

interface Login {
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

const logIn = async (socket: Socket, next: NextMessage, { user, password, database }: Login): Promise<void> => {
  const startup = Buffer.concat([int32(196_608), Buffer.from(`user\0${user}\0database\0${database}\0\0`)]);
  socket.write(Buffer.concat([int32(startup.length + 4), startup]));
  await next();
  const first = `n=,r=${randomBytes(12).toString('base64')}`;
  const opening = Buffer.from(`n,,${first}`);
  send(socket, 'p', Buffer.concat([Buffer.from('SCRAM-SHA-256\0'), int32(opening.length), opening]));
  const challenge = (await next()).body.subarray(4).toString();
  send(socket, 'p', Buffer.from(scramProof(password, first, challenge)));
  while ((await next()).type !== 'Z');
};

const scramProof = (password: string, first: string, challenge: string): string => {
  const [, nonce = '', salt = '', rounds = ''] = /^r=(.*),s=(.*),i=(\d+)$/.exec(challenge) ?? [];
  const salted = pbkdf2Sync(password, Buffer.from(salt, 'base64'), Number(rounds), 32, 'sha256');
  const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
  const clientKey = hmac(salted, 'Client Key');
  const last = `c=biws,r=${nonce}`;
  const signature = hmac(createHash('sha256').update(clientKey).digest(), `${first},${challenge},${last}`);
  return `${last},p=${Buffer.from(clientKey.map((byte, index) => byte ^ (signature[index] ?? 0))).toString('base64')}`;
};

const rows = async (next: NextMessage): Promise<string[][]> => {
  const found: string[][] = [];
  for (let message = await next(); message.type !== 'Z'; message = await next()) {
    if (message.type === 'D') found.push(columns(message.body));
  }
  return found;
};

const columns = (body: Buffer): string[] => {
  const texts: string[] = [];
  for (let offset = 2; offset < body.length;) {
    const length = body.readInt32BE(offset);
    texts.push(length < 0 ? '' : body.toString('utf8', offset + 4, offset + 4 + length));
    offset += 4 + Math.max(0, length);
  }
  return texts;
};
