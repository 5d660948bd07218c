// decode_pprof.js FILE: a pprof file, decoded by the package pprof-format, as JSON on stdout.
const fs = require('fs')
const zlib = require('zlib')
const {Profile} = require('pprof-format')

const p = Profile.decode(zlib.gunzipSync(fs.readFileSync(process.argv[2])))
const text = i => p.stringTable.strings[Number(i)]
const functions = new Map(p.function.map(f => [Number(f.id), text(f.name)]))
const locations = new Map(p.location.map(l => [Number(l.id), functions.get(Number(l.line[0].functionId))]))
console.log(
  JSON.stringify({
    types: p.sampleType.map(t => [text(t.type), text(t.unit)]),
    comments: p.comment.map(text),
    mappings: p.mapping.map(m => text(m.filename)),
    samples: p.sample.map(s => ({
      stack: s.locationId.map(id => locations.get(Number(id))).reverse(),
      values: s.value.map(Number),
      labels: Object.fromEntries(s.label.map(l => [text(l.key), Number(l.num) || text(l.str)])),
    })),
  }),
)
