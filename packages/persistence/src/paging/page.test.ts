import { ServiceError } from '@decision/contracts';
import fc from 'fast-check';
import { readCursor, writeCursor } from './page';

const position = { createdAt: '2026-01-15T09:30:00.123Z', id: '5f9c1f4e-7f4b-4c55-8a49-2f7f0a8f1d11' };
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a cursor', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(
        fc.uuid(),
        fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true }),
        (id, date) => {
          const written = { createdAt: date.toISOString(), id };
          expect(readCursor(writeCursor(written))).toEqual(written);
        },
      ),
    );
  });

  it('fits into a query string as it is', () => {
    expect(writeCursor(position)).toMatch(/^[\w-]{1,200}$/);
  });

  it.each<[string, string]>([
    ['empty', ''],
    ['no cursor', 'not base64url!'],
    ['a control character', '\u0000'],
    ['a string', encode('text')],
    ['an object', encode({})],
    ['no position', encode([])],
    ['no id', encode([position.createdAt])],
    ['an id of another form', encode([position.createdAt, 'x'])],
    ['too long', encode([position.createdAt, position.id, 1])],
    ['a number for a time', encode([1, position.id])],
    ['a day that does not exist', encode(['2026-02-30T00:00:00.000Z', position.id])],
    ['a month that does not exist', encode(['2026-13-01T00:00:00.000Z', position.id])],
    ['a year that the database does not know', encode(['0000-01-01T00:00:00.000Z', position.id])],
    ['no time', encode(['2026-01-15', position.id])],
    ['an injection', encode(["2026-01-15T09:30:00.123Z'; drop table rules; --", position.id])],
    ['long', 'W'.repeat(100_000)],
  ])('that is %s is refused', (_, cursor) => {
    expect(() => readCursor(cursor)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

  it('is read or refused, and never a fault, whatever text it is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          readCursor(text);
        } catch (error) {
          expect(error).toBeInstanceOf(ServiceError);
        }
      }),
    );
  });
});
