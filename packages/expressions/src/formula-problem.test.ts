import { problemAt } from './formula-problem';

const at = (text: string, position: number, length = 1): ReturnType<typeof problemAt> =>
  problemAt(text, 'unexpected_text', 'no', { position, length });

describe('a problem', () => {
  it('marks its position on the line of the formula', () => {
    expect(at('1 + abc', 4, 3)).toEqual({
      code: 'unexpected_text',
      message: 'no',
      position: 4,
      length: 3,
      line: 1,
      column: 5,
      caret: '1 + abc\n    ^^^',
    });
  });

  it('counts lines and columns from one', () => {
    const text = 'first\nsecond\nthird';
    expect(at(text, 0)).toMatchObject({ line: 1, column: 1, caret: 'first\n^' });
    expect(at(text, 6)).toMatchObject({ line: 2, column: 1, caret: 'second\n^' });
    expect(at(text, 17)).toMatchObject({ line: 3, column: 5, caret: 'third\n    ^' });
  });

  it('belongs to the line that its line break ends', () => {
    expect(at('ab\ncd', 2)).toMatchObject({ line: 1, column: 3, caret: 'ab\n  ^' });
  });

  it('leaves a carriage return out of the line', () => {
    expect(at('ab\r\ncd', 1).caret).toBe('ab\n ^');
  });

  it('marks one column after the end of the text', () => {
    expect(at('1 +', 3, 0)).toMatchObject({ position: 3, length: 0, column: 4, caret: '1 +\n   ^' });
    expect(at('', 0, 0).caret).toBe('\n^');
  });

  it('marks no further than its line', () => {
    expect(at('ab\ncd', 0, 5).caret).toBe('ab\n^^');
  });

  it('keeps tabs, so that the mark stays aligned', () => {
    expect(at('\ta\tb', 3).caret).toBe('\ta\tb\n\t \t^');
  });

  it('cuts a long line around the position', () => {
    const [line = '', marks = ''] = at(`${'x'.repeat(500)}!${'y'.repeat(500)}`, 500).caret.split('\n');
    expect(line).toHaveLength(120);
    expect(line[marks.indexOf('^')]).toBe('!');
  });

  it('shows the end of a long line if the position is there', () => {
    const [line = '', marks = ''] = at(`${'x'.repeat(500)}!`, 500).caret.split('\n');
    expect(line).toHaveLength(120);
    expect(line[marks.indexOf('^')]).toBe('!');
  });

  it('includes the position inside a called text only if there is one', () => {
    expect(at('a', 0)).not.toHaveProperty('inner');
    const inner = at('b', 0);
    expect(problemAt('a', 'unexpected_text', 'no', { position: 0, length: 1 }, inner).inner).toBe(inner);
  });
});
