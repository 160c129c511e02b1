import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import {
  cleanPath,
  packedWord,
  packFile,
  parsePackedWord,
  unpackFile,
} from '../../../src/lib/job/packed-files.ts'

test('a file comes out as it went in, by the word that its Job has', () => {
  const packed = packFile('plan.yaml', 'plans/plan.yaml', 'kind: UpgradePlan\n')
  const word = parsePackedWord(packedWord(packed))
  expect(unpackFile(Buffer.from(packed.gzip, 'base64'), word).toString()).toBe('kind: UpgradePlan\n')
})

test.each([
  ['another text', gzipSync('kind: Other\n'), 'its sha256 is'],
  ['no gzip', Buffer.from('kind: UpgradePlan\n'), 'is no gzip'],
  ['nothing', Buffer.alloc(0), 'is no gzip'],
])('%s in its place is refused', (_, bytes, why) => {
  const { sha256 } = packFile('plan.yaml', 'plan.yaml', 'kind: UpgradePlan\n')
  expect(() => unpackFile(bytes, { path: 'plan.yaml', sha256 })).toThrow(why)
})

test.each([
  ['plan.yaml', 'plan.yaml'],
  ['./manifests/v1.8.4.yaml', 'manifests/v1.8.4.yaml'],
  ['/etc/plan.yaml', undefined],
  ['../plan.yaml', undefined],
  ['a/../../b', undefined],
  ['a b', undefined],
  ['', undefined],
])('the path %j is %j in a pod', (path, clean) => expect(cleanPath(path)).toBe(clean))

test.each(['plan.yaml', `../x=${'0'.repeat(64)}`, `/x=${'0'.repeat(64)}`, 'plan.yaml=abc'])(
  '%j is no word of a file',
  (word) => expect(() => parsePackedWord(word)).toThrow('is not PATH=SHA256'),
)
