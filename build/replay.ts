// Judges a recording of a cluster: what kvup would have said at each of its lines, beside what KubeVirt said itself.
//   npm run replay -- FILE.ndjson.gz
// The recording is made by test/e2e/lab/record.mjs. Exit 0: never done before KubeVirt and never more than five seconds
// behind it. Exit 1: it was. Exit 2: the file is no such recording.
import { readFileSync } from 'node:fs'
import { replayText } from '../test/transcripts/replay-text.ts'

const [file, ...more] = process.argv.slice(2)
if (file === undefined || file.startsWith('-') || more.length > 0) {
  console.error('usage: npm run replay -- FILE.ndjson.gz')
  process.exit(2)
}
const { text, code } = replayText(file, () => readFileSync(file))
if (code === 2) console.error(text)
else console.log(text)
process.exitCode = code
