import { checkJsonContentType } from './content-type';

it.each([
  undefined,
  'application/json',
  'Application/JSON',
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
  'application/json; profile=x; charset=utf8',
  'application/vnd.example.v1+json',
  'application/problem+json',
])('accepts %j', (header) => {
  expect(() => checkJsonContentType(header)).not.toThrow();
});

it.each([
  '',
  'text/plain',
  'text/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/jsonp',
  'application/json2',
  'application/json, text/plain',
  'application/json; charset=latin1',
  'application/json; charset=utf-16',
  `application/${'x'.repeat(50_000)}`,
])('refuses %.60s', (header) => {
  expect(() => checkJsonContentType(header)).toThrow(
    expect.objectContaining({ code: 'unsupported_media_type', message: expect.stringMatching(/^.{1,250}$/) }),
  );
});
