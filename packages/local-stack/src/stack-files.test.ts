import { outsideLocation, stackLocations } from './stack-files';

describe('stackLocations', () => {
  it('are the directory and one place outside that is named after it', () => {
    const [own, outside, ...more] = stackLocations('/somewhere/.local/data');
    expect(own).toBe('/somewhere/.local/data');
    expect(outside).toMatch(/^\/.*\/decision-stack-[0-9a-f]{16}$/);
    expect(more).toEqual([]);
  });

  it('are absolute and the same however the directory is written', () => {
    expect(stackLocations('.local/../.local/data/')).toEqual(stackLocations(`${process.cwd()}/.local/data`));
  });

  it('differ between directories', () => {
    expect(outsideLocation('/a')).not.toBe(outsideLocation('/b'));
  });
});
