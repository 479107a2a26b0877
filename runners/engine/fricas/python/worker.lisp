; What a worker of FriCAS runs once its process is FriCAS, which reads it before it reads a request.
;
; Descriptor 3 is the connection: JSON lines, as zygote.py describes. A worker answers {"op":"probe"} and then one
; {"processor_ms":n,"text":s}: s is evaluated by FriCAS, and its value, an InputForm, is answered as {"text":t}, where t is a number, a name,
; or (name value value …). Requests of any other form end the process.

(defpackage "RECKON" (:use "CL"))
(in-package "RECKON")

(defun foreign (name result types values)
  (si::call-cfun (si::find-foreign-symbol name :default :pointer-void 0) result types values))

(defun space-of (bytes) (si::allocate-foreign-data :void bytes))

(defun put-long (place index value) (si::foreign-data-set-elt place (* 8 index) :long value))

(defun exit-now (code) (foreign "_exit" :void '(:int) (list code)))

(defun zeros (bytes)
  (let ((place (space-of bytes))) (dotimes (i bytes place) (si::foreign-data-set-elt place i :uint8-t 0))))

(defun send-line (text)
  (let* ((size (1+ (length text))) (place (space-of size)) (sent 0))
    (dotimes (i (length text)) (si::foreign-data-set-elt place i :uint8-t (char-code (char text i))))
    (si::foreign-data-set-elt place (1- size) :uint8-t 10)
    (loop while (< sent size)
          do (let ((n (foreign "write" :long '(:int :pointer-void :unsigned-long) (list 3 (si::foreign-data-pointer place sent (- size sent) :void) (- size sent)))))
               (when (< n 1) (exit-now 0)) (incf sent n)))))

(defvar request-bytes 65536)

(defun receive-line ()
  (let ((place (space-of 4096)) (line (make-string-output-stream)) (size 0))
    (loop
      (let ((n (foreign "read" :long '(:int :pointer-void :unsigned-long) (list 3 place 4096))))
        (when (< n 1) (exit-now 0))
        (when (> (incf size n) request-bytes) (exit-now 71))
        (dotimes (i n)
          (let ((c (si::foreign-data-ref-elt place i :uint8-t)))
            (when (= c 10) (return-from receive-line (get-output-stream-string line)))
            (write-char (code-char c) line)))))))

; The reply to a probe: what the kernel answers to what must not work.

(defun errno-of (result)
  (if (/= result -1) "allowed"
    (let ((n (si::foreign-data-ref-elt (si::foreign-data-recast (foreign "__errno_location" :pointer-void nil nil) 4 :int) 0 :int)))
      (case n (1 "EPERM") (13 "EACCES") (t (format nil "~d" n))))))

(defun attempts (parent)
  (list (cons "open" (errno-of (foreign "open" :int '(:cstring :int :int) '("/etc/passwd" 0 0))))
        (cons "create" (errno-of (foreign "open" :int '(:cstring :int :int) '("/tmp/reckon-probe" 193 384))))
        (cons "list" (errno-of (foreign "open" :int '(:cstring :int :int) '("/proc" 65536 0))))
        (cons "socket" (errno-of (foreign "socket" :int '(:int :int :int) '(2 1 0))))
        (cons "unix_socket" (errno-of (foreign "socket" :int '(:int :int :int) '(1 1 0))))
        (cons "fork" (errno-of (let ((pid (foreign "fork" :int nil nil))) (when (= pid 0) (exit-now 0)) pid)))
        (cons "exec" (errno-of (foreign "execv" :int '(:cstring :pointer-void) (list "/bin/true" (zeros 8)))))
        (cons "signal_parent" (errno-of (foreign "kill" :int '(:int :int) (list parent 0))))
        (cons "signal_all" (errno-of (foreign "kill" :int '(:int :int) (list -1 0))))
        (cons "ptrace" (errno-of (foreign "ptrace" :long '(:long :long :long :long) (list 16 parent 0 0))))
        (cons "read_memory" (errno-of (foreign "process_vm_readv" :long '(:int :long :unsigned-long :long :unsigned-long :unsigned-long) (list parent 0 0 0 0 0))))))

(defun probed (parent)
  (format nil "{\"probe\":{~{~a~^,~}}}" (mapcar (lambda (a) (format nil "\"~a\":\"~a\"" (car a) (cdr a))) (attempts parent))))

; What is answered: at most so many characters, of letters and digits and the signs of names.

(defvar text-bytes 65536)

(defun plain-name (name)
  (and (< 0 (length name) 64) (every (lambda (c) (and (< 32 (char-code c) 127) (not (find c "\"\\()")))) name)))

(defun written (value stream)
  (cond ((integerp value) (format stream "~d" value))
        ((and (symbolp value) (plain-name (symbol-name value))) (write-string (symbol-name value) stream))
        ((consp value)
         (write-char #\( stream)
         (loop for (part . more) on value
               do (written part stream) (when more (write-char #\Space stream)))
         (write-char #\) stream))
        ((floatp value) (write-string "decimal" stream))
        (t (write-string "unknown" stream))))

(defun failed (reason detail) (send-line (format nil "{\"failed\":\"~a\",\"detail\":\"~a\"}" reason detail)) (exit-now 0))

(defun value-of (text)
  (let ((found nil) (*package* (find-package "BOOT")))
    (catch 'boot::|top_level| (catch 'boot::spad_reader (handler-case (setq found (boot::|parseAndEvalStr| text)) (error () nil))))
    found))

; The InputForm of an object of FriCAS, (type wrapped . value) or (type . atom), in a list; nil where it is another object.

(defun input-form (object)
  (when (and (consp object) (equal (car object) '(boot::|InputForm|)))
    (let ((value (cdr object)))
      (cond ((atom value) (list value))
            ((eq (car value) 'boot::wrapped) (list (cdr value)))))))

(defun answer (text)
  (let ((found (input-form (value-of text))))
    (unless found (failed "refused" "it has no value"))
    (let ((text (with-output-to-string (s) (written (car found) s))))
      (when (> (length text) text-bytes) (failed "output_too_large" (format nil "the answer has ~d characters" (length text))))
      (send-line (format nil "{\"text\":\"~a\"}" text)))))

(defun limit-processor-time (milliseconds)
  (let ((timer (zeros 32)))
    (put-long timer 2 (floor milliseconds 1000))
    (put-long timer 3 (* 1000 (mod milliseconds 1000)))
    (foreign "setitimer" :int '(:int :pointer-void :pointer-void) (list 2 timer (zeros 32)))))

; {"processor_ms":3000,"text":"integrate(vv0,vv0)"}, with nothing that JSON escapes.

(defun asked (line)
  (let* ((start "{\"processor_ms\":") (middle ",\"text\":\"") (at (search middle line)))
    (unless (and at (eql 0 (search start line)) (string= (subseq line (- (length line) 2)) "\"}")) (exit-now 71))
    (let ((text (subseq line (+ at (length middle)) (- (length line) 2))))
      (unless (every (lambda (c) (and (<= 32 (char-code c) 126) (not (find c "\"\\")))) text) (exit-now 71))
      (limit-processor-time (parse-integer line :start (length start) :end at))
      (answer text))))

; SIGPROF ends the process: FriCAS handles no signals itself.

(defun default-signals ()
  (foreign "signal" :pointer-void '(:int :unsigned-long) '(27 0))
  (foreign "pthread_sigmask" :int '(:int :pointer-void :pointer-void) (list 2 (zeros 128) (zeros 128))))

(defun bytes-of (hex)
  (let* ((size (floor (length hex) 2)) (place (space-of size)))
    (dotimes (i size place) (si::foreign-data-set-elt place i :uint8-t (parse-integer hex :start (* 2 i) :end (+ 2 (* 2 i)) :radix 16)))))

; Closes the last walls: Landlock, no files written (RLIMIT_FSIZE), no more threads (RLIMIT_NPROC), and the filter of system calls, as struct sock_fprog has it.

(defun lock-in (hex landlock)
  (let* ((filter (bytes-of hex)) (program (zeros 16)))
    (when landlock
      (unless (= 0 (foreign "syscall" :long '(:long :long :long) '(446 5 0))) (exit-now 70))
      (foreign "close" :int '(:int) '(5)))
    (foreign "setrlimit" :int '(:int :pointer-void) (list 1 (zeros 16)))
    (foreign "setrlimit" :int '(:int :pointer-void) (list 6 (zeros 16)))
    (si::foreign-data-set-elt program 0 :unsigned-short (floor (length hex) 16))
    (si::foreign-data-set-elt program 8 :pointer-void filter)
    (foreign "prctl" :int '(:int :unsigned-long) '(4 0)) ; not dumpable
    (unless (= 0 (foreign "prctl" :int '(:int :unsigned-long :pointer-void :unsigned-long :unsigned-long) (list 22 2 program 0 0))) (exit-now 70))))

; The thread that handles signals for ECL: threads are stopped by signals, which the filter does not let through, when memory is collected.

(defun end-other-threads ()
  (dolist (other (remove mp:*current-process* (mp:all-processes)))
    (mp:process-kill other) (mp:process-join other)))

; What FriCAS copied to load it is loaded.

(defun remove-temporary-files ()
  (let ((folder (si::getenv "TMPDIR")))
    (dolist (file (directory (concatenate 'string folder "*"))) (delete-file file))
    (foreign "rmdir" :int '(:cstring) (list folder))))

(defun serve (hex landlock)
  (let ((parent (foreign "getppid" :int nil nil)))
    (end-other-threads)
    (default-signals)
    (remove-temporary-files)
    (when (> (length hex) 0) (lock-in hex landlock))
    (loop (let ((line (receive-line)))
            (if (string= line "{\"op\":\"probe\"}") (send-line (probed parent)) (asked line))))))
