import { identityOf } from './claims';

const PATHS = { id: 'sub', email: 'email', name: 'name' };

describe('step 3: the claim at the email path', () => {
  it('is the identity, kept as it is written', () => {
    expect(identityOf({ email: 'Ada.B@Example.com', sub: 'x1', name: ' Ada ' }, PATHS)).toMatchObject({
      email: 'Ada.B@Example.com',
      externalSub: 'x1',
      name: 'Ada',
    });
  });

  it.each([
    ['absent', {}],
    ['a number', { email: 7 }],
    ['a list', { email: ['a@example.com'] }],
    ['an object', { email: { a: 'a@example.com' } }],
    ['null', { email: null }],
    ['empty', { email: '' }],
    ['blank', { email: '  ' }],
    ['with spaces around', { email: ' a@example.com' }],
    ['with a space within', { email: 'a b@example.com' }],
    ['with NUL', { email: 'a\0@example.com' }],
    ['with a line break', { email: 'a@example.com\n' }],
    ['with an invisible sign', { email: 'a\u200b@example.com' }],
    ['of 10 kB', { email: `${'a'.repeat(10_000)}@example.com` }],
    ['without an at sign', { email: 'ada' }],
    ['with a Kelvin sign for k', { email: '\u212aim@example.com' }],
    ['with a long s', { email: '\u017fam@example.com' }],
    ['with a Turkish I', { email: '\u0130da@example.com' }],
    ['with full-width letters', { email: '\uff41da@example.com' }],
    ['only in the prototype', Object.create({ email: 'a@example.com' }) as object],
    ['within __proto__', JSON.parse('{"__proto__":{"email":"a@example.com"}}') as object],
  ])('is missing if it is %s', (_, claims) => {
    expect(() => identityOf(claims as Record<string, unknown>, PATHS)).toThrow('Token missing required email claim');
  });

  it('may have letters beyond ASCII that cannot be mistaken for others', () => {
    expect(identityOf({ email: 'jörg@bücher.example' }, PATHS).email).toBe('jörg@bücher.example');
  });

  it('names and ids that are not text are ignored', () => {
    expect(identityOf({ email: 'a@example.com', sub: {}, name: 7 }, PATHS)).toMatchObject({
      name: null,
      externalSub: null,
    });
    expect(identityOf({ email: 'a@example.com', sub: 42 }, PATHS).externalSub).toBe('42');
  });
});
