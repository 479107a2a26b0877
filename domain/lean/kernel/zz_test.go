package kernel_test
import ("testing";"os";"context";"bytes";"encoding/json";"reckon/domain/lean/export";"reckon/domain/lean/kernel";"reckon/domain/lean/internal/leandata")
func load(b *testing.B) []byte { x,err:=os.ReadFile(leandata.Dir(b,"accept")+"/init-prelude.ndjson"); if err!=nil {b.Fatal(err)}; return x}
func BenchmarkJSON(b *testing.B){ d:=load(b); b.ReportAllocs(); for b.Loop(){ for _,l:=range bytes.Split(d,[]byte("\n")) { if len(l)==0{continue}; var v any; if json.Unmarshal(l,&v)!=nil {b.Fatal()} } } }
func BenchmarkRead(b *testing.B){ d:=load(b); b.ReportAllocs();for b.Loop(){ export.Read(context.Background(),bytes.NewReader(d),export.Limits{}) } }
func BenchmarkCheck1(b *testing.B){ d:=load(b);b.ReportAllocs(); for b.Loop(){ f,_:=export.Read(context.Background(),bytes.NewReader(d),export.Limits{}); r:=kernel.Check(context.Background(),f.Store,f.Declarations,kernel.Options{Workers:1}); if !r.Accepted(){b.Fatal(r)} } }
func BenchmarkCheck2(b *testing.B){ d:=load(b); for b.Loop(){ f,_:=export.Read(context.Background(),bytes.NewReader(d),export.Limits{}); r:=kernel.Check(context.Background(),f.Store,f.Declarations,kernel.Options{Workers:2}); if !r.Accepted(){b.Fatal(r)} } }
