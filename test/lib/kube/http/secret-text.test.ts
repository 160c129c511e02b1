import { describe, expect, test } from 'vitest'
import { redactBody } from '../../../../src/lib/kube/http/trace.ts'
import { withoutSecrets } from '../../../../src/lib/kube/http/secret-text.ts'
import { forms, planted, unmarked } from './secret-forms.ts'

describe('a credential goes, however it is written', () => {
  test.each(forms)('%s', (form) => {
    const left = withoutSecrets(unmarked(form))
    expect(left).toContain('<redacted>')
    expect(planted(form).filter((one) => left.includes(one))).toEqual([])
    // In a document and in a text that is no JSON any more.
    const document = redactBody(JSON.stringify({ text: unmarked(form) }), '')
    expect(planted(form).filter((one) => document.includes(one))).toEqual([])
    const cut = withoutSecrets(`{"a":1, ${JSON.stringify({ text: unmarked(form) })}`)
    expect(planted(form).filter((one) => cut.includes(one))).toEqual([])
    // Nothing is left to be hidden when it is done again.
    expect(withoutSecrets(left)).toBe(left)
  })
})

describe('what stands around it stays', () => {
  test.each([
    ['mysql --password hunterTwo -h db', 'mysql --password <redacted> -h db'],
    [`sh -c 'x --token=abc' && y`, `sh -c 'x --token=<redacted>' && y`],
    [`curl -H 'X-Token: abc' https://x`, `curl -H 'X-Token: <redacted>' https://x`],
    ['{"password":"a b","user":"x"} y', '{"password":"<redacted>","user":"x"} y'],
    ['user=x;Password=abc;Server=y', 'user=x;Password=<redacted>;Server=y'],
    ['password=abc, user=x', 'password=<redacted>, user=x'],
    ['(token=abc) refused', '(token=<redacted>) refused'],
    ['password: |\n  a\n  b\nuser: x', 'password: |\n<redacted>\nuser: x'],
    ['from user:pw@registry:5000/a:v1', 'from <redacted>@registry:5000/a:v1'],
    ['http://u:p@a/x,http://v:q@b/y', 'http://<redacted>@a/x,http://<redacted>@b/y'],
  ])('%s', (text, left) => expect(withoutSecrets(text)).toBe(left))
})

describe('no credential is seen where there is none', () => {
  test.each([
    'quay.io/kubevirt/virt-api:v1.9.0@sha256:0a1b2c3d, docker://registry:5000/kubevirt/virt-api@sha256:0a1b',
    'virt-api:v1.8.4@sha256:0a1b2c3d',
    'the token is expired; the token is not valid; a token is asked for',
    'password authentication is disabled, a password is required',
    'Prometheus answered 401: it asks for a token',
    'use --token or --kubeconfig; --token is not given',
    'kubectl -n kubevirt get secret kubevirt-ca -o yaml',
    'kubectl create token default',
    'lacks create serviceaccounts/token: ask your admin',
    'tokenreviews.authentication.k8s.io, secrets: get, list',
    'spec.imagePullSecrets, secretName: virt-api-certs, secretRef.name',
    '11 checks pass: 2 fail; bypass: x; compass=1',
    'ops@bastion and git@github.com:kubevirt/kubevirt',
    'at 10:11:12, system:serviceaccount:kubevirt:kubevirt-operator',
    'https://prometheus:9090/graph?g0.expr=up',
    'the cookies of a browser, authorization by RBAC',
    '👩\u{200d}💻 wrote this',
  ])('%s', (text) => expect(withoutSecrets(text)).toBe(text))
})

/** Half a match over and over, of which each expression could make much. */
const halves = [
  'a',
  '.',
  '-',
  ' ',
  '\\',
  '"',
  "'",
  '://',
  'a://',
  'a@',
  'a:',
  'a:b@',
  '=',
  'eyJ',
  'eyJaaaaaaaa.',
  'eyJaaaaaaaa-',
  '-----BEGIN PRIVATE KEY-----',
  '--token ',
  '--token',
  'password',
  'password=',
  'password="',
  "password='a",
  'password=\\"',
  'password: |\n',
  'password\n',
  'token is ',
  'passwd ',
  'name: TOKEN ',
  'TOKEN_',
  'PASS_',
  'Cookie: ',
  'Authorization: ',
  'Bearer ',
  'Basic ',
  'Basic aaaa',
  '?sig=',
  '&key',
  '&a',
  '-u a:',
  'chpasswd',
  'chpasswd:\n ',
  'a:| chpasswd',
  '"auth":"',
  'gh',
  'xox',
  'sha256~',
  'a,',
  'password=,',
  'password={',
  '<password>',
  '\u{ad}',
  'p\u{ad}',
]
test.each(halves)('a megabyte of %j ends', (half) => {
  const text = half.repeat(Math.ceil(1_000_000 / half.length))
  expect(withoutSecrets(text).length).toBeLessThan(30_000_000)
  expect(withoutSecrets(`${text} password=hunter2`)).not.toContain('hunter2')
})
