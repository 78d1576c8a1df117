import { MessageReader, StatementReader } from './database-messages';

const message = (letter: string, ...texts: string[]): Buffer => {
  const body = Buffer.from(texts.map((text) => `${text}\0`).join(''));
  const head = Buffer.alloc(5);
  head.write(letter);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};

it('cuts messages wherever the pieces end', () => {
  const greeting = Buffer.from([0, 0, 0, 8, 1, 2, 3, 4]);
  const all = Buffer.concat([greeting, message('Q', 'select 1'), message('S')]);
  for (const size of [1, 3, all.length]) {
    const reader = new MessageReader({ greets: true });
    const seen: Buffer[] = [];
    for (let at = 0; at < all.length; at += size) seen.push(...reader.read(all.subarray(at, at + size)));
    expect(seen).toEqual([greeting, message('Q', 'select 1'), message('S')]);
  }
});

it('tells a statement once for each time that it is carried out', () => {
  const reader = new StatementReader();
  const seen = [
    message('Q', 'begin; select 1'),
    ...[message('P', '', 'select $1'), message('B', '', ''), message('E', '')],
    ...[message('P', 'kept', 'select $2'), message('D', 'Skept'), message('B', '', 'kept'), message('E', '')],
    ...[message('B', '', 'kept'), message('B', '', 'unknown')],
  ].map((one) => reader.textOf(one));
  expect(seen).toEqual([
    'begin; select 1',
    ...['select $1', undefined, undefined],
    ...[undefined, undefined, 'select $2', undefined],
    ...['select $2', undefined],
  ]);
});
